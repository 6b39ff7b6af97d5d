from django.contrib import admin

from fulfillment.core.admin.read_only import HistoryAdmin
from stores.templates.models import Font


@admin.register(Font.pgh_event_model)  # type: ignore[attr-defined]
class FontHistoryAdmin(HistoryAdmin):
    shown = ("file_name", "families")
    search_fields = ["file_name"]
    search_help_text = "File"
