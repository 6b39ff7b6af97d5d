"""Webhooks and their deliveries for operators, who read them and can send a delivery again."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST
from unfold.contrib.filters.admin import TextFilter
from unfold.decorators import display

from applications.webhooks.models import Delivery, DeliveryState, Webhook
from applications.webhooks.selectors.deliveries import delivery_page
from applications.webhooks.selectors.webhooks import event_record
from applications.webhooks.services.deliveries import resend_delivery, send_test_event
from applications.webhooks.services.webhooks import BY_OPERATOR, disable_webhook, enable_webhook
from fulfillment.core.admin.base import ExtraPage
from fulfillment.core.admin.confirmation import confirmation_page, requires_confirmation
from fulfillment.core.admin.read_only import ReadOnlyAdmin
from fulfillment.core.http.dangerous import harmless
from fulfillment.core.page_messages import errors_as_messages
from fulfillment.core.text import parse_uuid

SHOWN_DELIVERIES = 20
COLORS: dict[str, str] = {
    DeliveryState.PENDING: "warning",
    DeliveryState.DELIVERED: "success",
    DeliveryState.FAILED: "danger",
}


class HealthFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "health"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("failing", _("Failing")), ("enabled", _("Enabled")), ("disabled", _("Disabled"))]

    def queryset(self, request: HttpRequest, webhooks: QuerySet) -> QuerySet:
        conditions: dict[str | None, dict[str, Any]] = {
            "failing": {"failing_since__isnull": False, "is_enabled": True},
            "enabled": {"is_enabled": True},
            "disabled": {"is_enabled": False},
        }
        return webhooks.filter(**conditions.get(self.value(), {}))


class WebhookFilter(TextFilter):
    """Filters by webhook ID, along the index of its log."""

    title = "webhook ID"
    parameter_name = "webhook"

    def queryset(self, request: HttpRequest, deliveries: QuerySet) -> QuerySet | None:
        if not (value := self.value()):
            return None
        return deliveries.filter(webhook=key) if (key := parse_uuid(value)) else deliveries.none()


class DeliveryStateFilter(admin.SimpleListFilter):
    """Filters the log of one webhook; across all webhooks there is no index for it."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        choices = [(state.value, str(state.label)) for state in DeliveryState]
        return choices if request.GET.get(WebhookFilter.parameter_name) else []

    def queryset(self, request: HttpRequest, deliveries: QuerySet) -> QuerySet:
        known = self.value() in DeliveryState.values and request.GET.get(WebhookFilter.parameter_name)
        return deliveries.filter(state=self.value()) if known else deliveries


@admin.register(Webhook)
class WebhookAdmin(ReadOnlyAdmin):
    """Operators watch webhooks and test, enable or disable them; applications own the other settings."""

    recorded_fields = ["disabled_reason"]
    harmless_pages = ("test", "enable", "disable")
    list_display = ["url", "application", "event_types_shown", "health", "failing_since", "created"]
    list_filter = [HealthFilter]
    search_fields = ["url", "application__name", "application__client_id"]
    search_help_text = "Endpoint URL or application"
    empty_help = "Owners of applications add them in the portal."
    change_form_outer_before_template = "admin/applications/webhook_before.html"
    change_form_outer_after_template = "admin/applications/webhook_after.html"
    fields = [
        "url",
        "application",
        "event_types_shown",
        "stores_shown",
        "health",
        "disabled_reason",
        "failing_since",
        "created",
        "updated",
    ]
    ordering = ["-created"]

    @admin.display(description="events")
    def event_types_shown(self, webhook: Webhook) -> str:
        return _("All events") if "*" in webhook.event_types else ", ".join(webhook.event_types)

    @admin.display(description="stores")
    def stores_shown(self, webhook: Webhook) -> str:
        return ", ".join(webhook.store_ids) or _("All stores")

    @display(
        description="state", label={_("Enabled"): "success", _("Failing"): "danger", _("Disabled"): "default"}
    )
    def health(self, webhook: Webhook) -> str:
        if not webhook.is_enabled:
            return "Disabled"
        return "Failing" if webhook.failing_since else "Enabled"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Webhook]:
        return super().get_queryset(request).filter(deleted__isnull=True).select_related("application")

    def record_context(self, request: HttpRequest, webhook: Webhook) -> dict[str, Any]:
        page = delivery_page(webhook, take=SHOWN_DELIVERIES)
        deliveries = [(delivery, list(delivery.attempts.all()), COLORS[delivery.state]) for delivery in page]
        return {"deliveries": deliveries, "webhook": webhook}

    def extra_pages(self) -> list[ExtraPage]:
        return [
            ("<uuid:webhook_id>/test/", require_POST(self.test_view), "test"),
            ("<uuid:webhook_id>/enable/", require_POST(self.enable_view), "enable"),
            ("<uuid:webhook_id>/disable/", require_POST(self.disable_view), "disable"),
        ]

    def test_view(self, request: HttpRequest, webhook_id: UUID) -> HttpResponse:
        webhook = self.record_for(request, webhook_id)
        success = _("Test event sent. It is the first of the deliveries below.")
        return self.call_service(request, webhook, lambda: send_test_event(webhook=webhook), success)

    def enable_view(self, request: HttpRequest, webhook_id: UUID) -> HttpResponse:
        webhook = self.record_for(request, webhook_id)
        return self.call_service(
            request, webhook, lambda: enable_webhook(webhook=webhook), _("Webhook enabled.")
        )

    def disable_view(self, request: HttpRequest, webhook_id: UUID) -> HttpResponse:
        webhook = self.record_for(request, webhook_id)
        question = _(
            "Disable %(url)s? No more events are sent to it, and its owners are notified by mail."
        ) % {"url": webhook.url}
        return confirmation_page(
            self, request, question=question, button=_("Disable"), back=self.address_of(webhook)
        ) or self.call_service(
            request,
            webhook,
            lambda: disable_webhook(webhook=webhook, reason=BY_OPERATOR),
            _("Webhook disabled."),
        )


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    """The delivery log: requests, responses and next attempts."""

    harmless_pages = ("resend",)
    list_display = ["event_type", "webhook", "shown_state", "tries", "next_try", "created"]
    list_filter = [WebhookFilter, DeliveryStateFilter]
    list_filter_submit = True
    search_fields = ["id"]
    exact_search = {"event__event_id": UUID}
    search_help_text = "ID of the event, as the receiver saw it"
    empty_help = (
        "Events are delivered to webhooks; “Send test event” on the page of a webhook sends the first."
    )
    change_form_outer_before_template = "admin/applications/delivery_before.html"
    change_form_outer_after_template = "admin/applications/delivery_after.html"
    fields = ["event_type", "webhook", "shown_state", "tries", "next_try", "created"]
    ordering = ["-id"]
    # In the order of the log: any other would sort the whole table.
    sortable_by = ()
    actions = ["resend"]

    @admin.display(description="event")
    def event_type(self, delivery: Delivery) -> str:
        return f"{delivery.event.type} {delivery.event.store_id}".strip()

    @display(description="state", label={label: COLORS[value] for value, label in DeliveryState.choices})
    def shown_state(self, delivery: Delivery) -> str:
        return delivery.get_state_display()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Delivery]:
        return super().get_queryset(request).select_related("event", "webhook")

    @harmless
    @admin.action(description="Resend …", permissions=["view"])
    @requires_confirmation("Resend these events? Receivers recognize repeated events by their IDs.", "Resend")
    def resend(self, request: HttpRequest, deliveries: QuerySet) -> None:
        sent_count = sum(self._resend(request, delivery) for delivery in deliveries)
        if sent_count:
            resent = ngettext("%(count)s delivery resent.", "%(count)s deliveries resent.", sent_count)
            messages.success(request, resent % {"count": sent_count})

    def record_context(self, request: HttpRequest, delivery: Delivery) -> dict[str, Any]:
        return {
            "attempts": list(delivery.attempts.order_by("-id")),
            "payload": event_record(delivery.event),
        }

    def extra_pages(self) -> list[ExtraPage]:
        return [("<int:delivery_id>/resend/", require_POST(self.resend_view), "resend")]

    def resend_view(self, request: HttpRequest, delivery_id: int) -> HttpResponse:
        delivery = self.record_for(request, delivery_id)
        if self._resend(request, delivery):
            messages.success(request, _("Delivery resent."))
        return HttpResponseRedirect(self.address_of(delivery))

    def _resend(self, request: HttpRequest, delivery: Delivery) -> bool:
        with errors_as_messages(request, about=delivery.webhook):
            resend_delivery(delivery=delivery)
            return True
        return False
