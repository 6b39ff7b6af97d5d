"""Roles and subscriptions: who may do what where, and how much."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldBooleanWidget

from accounts.admin.staff import StaffAdmin
from accounts.models import Role, Subscription, SubscriptionSlot
from accounts.permissions import Permission
from accounts.services.subscriptions import regenerate_subscription_key
from fulfillment.core.admin.base import ConsoleAdmin
from fulfillment.core.admin.confirmation import requires_confirmation
from fulfillment.core.admin.inlines import ConsoleInline
from fulfillment.core.http.dangerous import dangerous


class RoleForm(forms.ModelForm):
    """A role over everything has its own field, so that a forgotten store does not grant every store."""

    everywhere = forms.BooleanField(
        required=False,
        widget=UnfoldBooleanWidget,
        help_text=gettext_lazy("The user has the permission for every store and every application."),
    )

    class Meta:
        model = Role
        fields = ["user", "application", "store", "grant"]
        labels = {"grant": gettext_lazy("Permission")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        role = self.instance
        self.fields["everywhere"].initial = bool(role.pk) and not (role.application_id or role.store_id)

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        on_one = bool(values.get("application") or values.get("store"))
        # A refused choice has its own error.
        if not on_one and not values.get("everywhere") and not {"application", "store"} & set(self.errors):
            self.add_error("everywhere", _("Choose a store or an application, or select Everywhere."))
        if on_one and values.get("everywhere"):
            self.add_error(
                "everywhere", _("Choose either a store or an application, or Everywhere, not both.")
            )
        return values


class PermissionFilter(admin.ChoicesFieldListFilter):
    """Has the title that the form and the list use for the field."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = _("permission")


class RolePlaces:
    """Shows the places of read-only roles, where the form's field `everywhere` has no value."""

    @admin.display(boolean=True)
    def everywhere(self, role: Role) -> bool:
        return not (role.application_id or role.store_id)


class RoleRows(ConsoleInline):
    """Grants are added or removed, never changed: a choice in each row would cost a query each."""

    model = Role
    per_page = 10
    ordering = ["pk"]
    hide_title = True

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).select_related("user", "application", "store")

    def has_change_permission(self, request: HttpRequest, instance: Any = None) -> bool:
        return False


@admin.register(Role)
class RoleAdmin(RolePlaces, StaffAdmin):
    """Store staff read the roles of their stores; operators grant them."""

    dangerous_pages = {"add": "Give a role", "change": "Change a role", "delete": "Take a role away"}
    view_grants: Sequence[str] = (Permission.STORE_ALL_READ,)
    form = RoleForm
    list_display = ["holder", "permission", "place", "created"]
    list_filter = [("grant", PermissionFilter)]
    list_select_related = ["user", "application", "store"]
    search_fields = ["user__username", "application__name", "application__client_id", "store__external_id"]
    search_help_text = "User, application or store"
    autocomplete_fields = ["user", "application", "store"]
    ordering = ["-pk"]

    @admin.display(description="for", ordering="user__username")
    def holder(self, role: Role) -> str:
        return str(role.user or role.application)

    @admin.display(description="where")
    def place(self, role: Role) -> str:
        return str(role.store or (role.application if role.user else None) or _("Everywhere"))

    @admin.display(description="permission", ordering="grant")
    def permission(self, role: Role) -> str:
        return role.get_grant_display()

    def _store_id(self, record: Any) -> int:
        # Only operators see grants over everything, which belong to no store.
        return record.store_id or 0

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)


@admin.register(Subscription)
class SubscriptionAdmin(ConsoleAdmin):
    """Never shows keys; owners see them in the portal."""

    harmless_pages = ("change",)
    forbidden = ("add", "delete")
    list_display = ["owner", "requests_per_minute", "created"]
    list_select_related = ["user", "application"]
    search_fields = ["user__username", "application__name", "application__client_id"]
    search_help_text = "User, application or client ID"
    fields = ["user", "application", "requests_per_minute"]
    readonly_fields = ["user", "application"]
    actions = ["regenerate_primary", "regenerate_secondary"]

    @admin.display(description="Owner", ordering="user__username")
    def owner(self, subscription: Subscription) -> Any:
        return subscription.user or subscription.application

    @dangerous(gettext_lazy("Regenerate a subscription key"))
    @admin.action(description="Regenerate the primary key …", permissions=["change"])
    @requires_confirmation(
        "Regenerate the primary key of these subscriptions? Calls with the old key are refused immediately.",
        "Regenerate",
    )
    def regenerate_primary(self, request: HttpRequest, subscriptions: QuerySet) -> None:
        self._regenerate(request, subscriptions, SubscriptionSlot.PRIMARY)

    @dangerous(gettext_lazy("Regenerate a subscription key"))
    @admin.action(description="Regenerate the secondary key …", permissions=["change"])
    @requires_confirmation(
        "Regenerate the secondary key of these subscriptions? Calls with the old key are refused immediately.",
        "Regenerate",
    )
    def regenerate_secondary(self, request: HttpRequest, subscriptions: QuerySet) -> None:
        self._regenerate(request, subscriptions, SubscriptionSlot.SECONDARY)

    def _regenerate(self, request: HttpRequest, subscriptions: QuerySet, slot: str) -> None:
        for subscription in subscriptions:
            regenerate_subscription_key(subscription=subscription, slot=slot)
            messages.success(
                request,
                _("%(subscription)s: new %(slot)s key; its owner sees it on the profile page.")
                % {"subscription": subscription, "slot": slot},
            )
