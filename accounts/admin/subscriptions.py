from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import Subscription, SubscriptionSlot
from accounts.services.subscriptions import regenerate_subscription_key
from fulfillment.core.admin.base import ConsoleAdmin
from fulfillment.core.admin.confirmation import requires_confirmation
from fulfillment.core.http.dangerous import dangerous


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

    @admin.display(ordering="user__username")
    def owner(self, subscription: Subscription) -> Any:
        return subscription.user or subscription.application

    @dangerous(gettext_lazy("Regenerate a subscription key"))
    @admin.action(description="Regenerate the primary key …", permissions=["change"])
    @requires_confirmation(
        "Regenerate the primary key of these subscriptions? Calls with the old key are refused immediately.",
        "Regenerate",
    )
    def regenerate_primary(self, request: HttpRequest, chosen: QuerySet) -> None:
        self._regenerate(request, chosen, SubscriptionSlot.PRIMARY)

    @dangerous(gettext_lazy("Regenerate a subscription key"))
    @admin.action(description="Regenerate the secondary key …", permissions=["change"])
    @requires_confirmation(
        "Regenerate the secondary key of these subscriptions? Calls with the old key are refused immediately.",
        "Regenerate",
    )
    def regenerate_secondary(self, request: HttpRequest, chosen: QuerySet) -> None:
        self._regenerate(request, chosen, SubscriptionSlot.SECONDARY)

    def _regenerate(self, request: HttpRequest, chosen: QuerySet, slot: str) -> None:
        for subscription in chosen:
            regenerate_subscription_key(subscription=subscription, slot=slot)
            messages.success(
                request,
                _("%(subscription)s: new %(slot)s key; its owner sees it on the profile page.")
                % {"subscription": subscription, "slot": slot},
            )
