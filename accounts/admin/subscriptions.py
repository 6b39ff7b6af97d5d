from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse
from unfold.admin import ModelAdmin
from unfold.decorators import action

from accounts.models import Subscription, SubscriptionSlot
from accounts.services.subscriptions import regenerate_subscription_key


@admin.register(Subscription)
class SubscriptionAdmin(ModelAdmin):
    """Keys are never shown here: their owners see them on their own pages."""

    list_display = ["owner", "requests_per_minute", "created"]
    list_select_related = ["user", "application"]
    search_fields = ["user__username", "application__name", "application__client_id"]
    fields = ["user", "application", "requests_per_minute"]
    readonly_fields = ["user", "application"]
    actions_detail = ["regenerate_primary", "regenerate_secondary"]

    @admin.display(ordering="user__username")
    def owner(self, subscription: Subscription) -> Any:
        return subscription.user or subscription.application

    @action(description="Regenerate primary key", permissions=["change"])
    def regenerate_primary(self, request: HttpRequest, object_id: int) -> HttpResponseRedirect:
        return self._regenerate(request, object_id, SubscriptionSlot.PRIMARY)

    @action(description="Regenerate secondary key", permissions=["change"])
    def regenerate_secondary(self, request: HttpRequest, object_id: int) -> HttpResponseRedirect:
        return self._regenerate(request, object_id, SubscriptionSlot.SECONDARY)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, instance: Any = None) -> bool:
        return False

    def _regenerate(self, request: HttpRequest, object_id: int, slot: str) -> HttpResponseRedirect:
        subscription = Subscription.objects.get(pk=object_id)
        regenerate_subscription_key(subscription=subscription, slot=slot)
        messages.success(
            request, f"The {slot} key was regenerated; its owner sees the new one on the profile page."
        )
        return HttpResponseRedirect(reverse("admin:accounts_subscription_change", args=[object_id]))
