from django.contrib import admin

from fulfillment.core.admin.read_only import HistoryAdmin
from production.providers.models import Provider


@admin.register(Provider.pgh_event_model)  # type: ignore[attr-defined]
class ProviderHistoryAdmin(HistoryAdmin):
    shown = ("code", "name", "is_enabled")
    search_fields = ["=code"]
    search_help_text = "Code, written out"
