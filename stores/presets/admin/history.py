from django.contrib import admin

from fulfillment.core.admin.read_only import HistoryAdmin
from stores.presets.models import OutputProfile, PrintPreset


@admin.register(PrintPreset.pgh_event_model)  # type: ignore[attr-defined]
class PrintPresetHistoryAdmin(HistoryAdmin):
    shown = ("code", "name")
    search_fields = ["code", "name"]
    search_help_text = "Preset ID or name"


@admin.register(OutputProfile.pgh_event_model)  # type: ignore[attr-defined]
class OutputProfileHistoryAdmin(HistoryAdmin):
    shown = ("description", "file_name")
    search_fields = ["description", "file_name"]
    search_help_text = "Profile or file"
