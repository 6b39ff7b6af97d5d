"""The console's pages of tenants and people, where operators add users, set passwords and give roles."""

from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import ReadOnlyPasswordHashWidget
from django.contrib.auth.hashers import is_password_usable
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from unfold.decorators import display
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from accounts.admin.access import RoleForm, RolePlaces, RoleRows
from accounts.models import Tenant, User
from accounts.names import PASSWORD_HELP
from accounts.services.mailed_links import request_confirmation
from accounts.services.users import create_user, end_sessions, is_name_taken, username_taken
from fulfillment.core.admin.base import ConsoleAdmin
from fulfillment.core.errors import Invalid


@admin.register(Tenant)
class TenantAdmin(ConsoleAdmin):
    harmless_pages = ("add", "change", "delete")
    list_display = ["domain", "name", "created"]
    search_fields = ["domain", "name"]
    search_help_text = "Domain or name"

    def has_delete_permission(self, request: HttpRequest, tenant: Tenant | None = None) -> bool:
        """Allowed only without users: each user needs a tenant, and the confirmation would list them all."""
        is_permitted = super().has_delete_permission(request, tenant)
        return is_permitted and tenant is not None and not tenant.users.exists()

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        try:
            return super().delete_view(request, object_id, extra_context)
        except IntegrityError:
            messages.error(request, _("A user joined this tenant in the meantime, so it was not deleted."))
            return HttpResponseRedirect(reverse("admin:accounts_tenant_change", args=[object_id]))


class OwnName:
    """Checks in user forms that the prepared name is free in the tenant."""

    instance: User
    add_error: Any
    changed_data: list[str]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean()  # type: ignore[misc]  # of the form mixed into
        tenant, name = cleaned.get("tenant"), cleaned.get("username")
        if tenant and name and is_name_taken(tenant=tenant, username=name, by_other_than=self.instance):
            self.add_error("username", username_taken(name).message)
        return cleaned


def _name_rules_once(form: Any) -> None:
    """The rules of a password in a sentence, at the first of its two fields."""
    form.fields["password1"].help_text = PASSWORD_HELP
    form.fields["password2"].help_text = ""


class NewUserForm(OwnName, UserCreationForm):
    class Meta:
        model = User
        fields = ["tenant", "username", "first_name", "last_name", "email", "phone", "is_operator"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Django's form takes users without a password, too.
        for name in ("password1", "password2"):
            self.fields[name].required = True
        _name_rules_once(self)

    def clean_username(self) -> str:
        """Replaces Django's check, which refuses names of users of other tenants."""
        name: str = self.cleaned_data["username"]
        return name


class SetPasswordForm(AdminPasswordChangeForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _name_rules_once(self)


class PasswordState(ReadOnlyPasswordHashWidget):
    """Says whether there is a password, in place of the parameters of its hash."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        state = _("Set") if value and is_password_usable(value) else _("Not set")
        return format_html('<p class="readonly" id="{}">{}</p>', (attrs or {}).get("id", ""), state)


class ChangedUserForm(OwnName, UserChangeForm):
    class Meta:
        model = User
        fields = "__all__"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if password := self.fields.get("password"):
            password.widget = PasswordState()
            password.help_text = format_html('<a href="{}">{}</a>', "../password/", _("Set a new password"))

    def _get_validation_exclusions(self) -> set[str]:
        """A name older than the current rules stays valid until it is changed."""
        exempt = set() if "username" in self.changed_data else {"username"}
        return super()._get_validation_exclusions() | exempt

    def clean_time_zone(self) -> str:
        name: str = self.cleaned_data["time_zone"]
        if name not in available_timezones():
            raise forms.ValidationError(_("Unknown time zone. Use a name such as America/Denver or UTC."))
        return name


class UserRoleInline(RolePlaces, RoleRows):
    form = RoleForm
    autocomplete_fields = ["application", "store"]


@admin.register(User)
class UserAdmin(DjangoUserAdmin, ConsoleAdmin):  # type: ignore[misc]  # what theirs widens, ours narrows
    # The form of a new user has nothing to say before its fields.
    add_form_template = None
    # Users are deactivated, not deleted, because their records refer to them.
    forbidden = ("delete",)
    dangerous_pages = {
        "add": "Add a user",
        "change": "Change a user",
        "auth_user_password_change": "Set the password of a user",
    }
    form = ChangedUserForm
    add_form = NewUserForm
    change_password_form = SetPasswordForm
    list_display = ["username", "full_name", "email", "tenant", "standing", "last_login"]
    list_filter = ["is_operator", "is_active", "tenant"]
    list_select_related = ["tenant"]
    search_fields = ["username", "first_name", "last_name", "email"]
    search_help_text = "Name or e-mail"
    ordering = ["username"]
    filter_horizontal = []
    autocomplete_fields = ["tenant"]
    readonly_fields = ["email_confirmed", "last_login", "created", "updated"]
    help_texts = {
        "is_operator": "Operators use every page of this console.",
        "time_zone": "Dates are shown in this time zone, such as America/Denver or UTC.",
    }
    inlines = [UserRoleInline]
    fieldsets = [
        (None, {"fields": ["tenant", "username", "password"]}),
        (
            "Person",
            {
                "fields": [
                    "first_name",
                    "last_name",
                    "email",
                    "email_confirmed",
                    "phone",
                    "time_zone",
                    "language",
                ]
            },
        ),
        ("Access", {"fields": ["is_operator", "is_active"]}),
        ("Dates", {"fields": ["last_login", "created", "updated"]}),
    ]
    add_fieldsets = [
        (None, {"fields": [*NewUserForm.Meta.fields[:-1], "password1", "password2", "is_operator"]}),
    ]

    @display(description="access", label={"Active": "success", "Operator": "info", "Inactive": "danger"})
    def standing(self, user: User) -> str:
        if not user.is_active:
            return "Inactive"
        return "Operator" if user.is_operator else "Active"

    def disambiguated_label(self, user: User) -> str:
        """Anyone can write another person's address into an account: until it is confirmed, it proves nothing."""
        unproven = "" if user.email_confirmed else _(", not confirmed")
        return f"{user.username} ({user.email}{unproven})"

    def get_inlines(self, request: HttpRequest, instance: User | None) -> list[Any]:
        return self.inlines if instance else []

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: Any = None,
    ) -> Any:
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except (IntegrityError, Invalid) as error:
            # Two forms sent at once can both pass validation.
            if "user_name_unique" not in str(error) and getattr(error, "code", "") != "username_taken":
                raise
            messages.error(request, _("Another user took this name in the meantime. Nothing was saved."))
            return HttpResponseRedirect(request.get_full_path())

    def save_model(self, request: HttpRequest, instance: User, form: forms.ModelForm, change: bool) -> None:
        if change:
            has_other_address = "email" in form.changed_data
            if has_other_address:
                instance.email_confirmed = None
            super().save_model(request, instance, form, change)
            if "is_active" in form.changed_data and not instance.is_active:
                # Otherwise they would work again after reactivation.
                end_sessions(user=instance)
            if has_other_address:
                request_confirmation(user=instance)
            return
        values = {name: form.cleaned_data[name] for name in NewUserForm.Meta.fields}
        created = create_user(password=form.cleaned_data["password1"], **values)
        instance.pk = created.pk
        instance.refresh_from_db()
