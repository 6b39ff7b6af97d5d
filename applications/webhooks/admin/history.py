from django.contrib import admin

from applications.webhooks.models import Webhook
from fulfillment.core.admin.read_only import HistoryAdmin


@admin.register(Webhook.pgh_event_model)  # type: ignore[attr-defined]
class WebhookHistoryAdmin(HistoryAdmin):
    shown = ("url", "application_id", "is_enabled")
    search_fields = ["=application__client_id"]
    search_help_text = "Client ID, written out"
