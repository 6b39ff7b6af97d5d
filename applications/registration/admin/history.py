from django.contrib import admin

from applications.registration.models import Application, ApplicationKey
from fulfillment.core.admin.read_only import HistoryAdmin


@admin.register(Application.pgh_event_model)
class ApplicationHistoryAdmin(HistoryAdmin):
    shown = ("client_id", "name", "is_enabled", "client_type")
    search_fields = ["=client_id", "name"]
    search_help_text = "Client ID, written out, or name"


@admin.register(ApplicationKey.pgh_event_model)  # type: ignore[attr-defined]
class ApplicationKeyHistoryAdmin(HistoryAdmin):
    shown = ("pgh_obj_id", "application_id", "start_date", "end_date")
    search_fields = ["=application__client_id"]
    search_help_text = "Client ID, written out"
