from django.contrib import admin
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from stores.models import Product, Store


class HistoryAdmin(ModelAdmin):
    """The audit trail is for reading; the database refuses changes as well."""

    ordering = ["-pgh_id"]
    list_filter = ["pgh_label", "pgh_created_at"]
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, instance: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, instance: object = None) -> bool:
        return False


@admin.register(Store.pgh_event_model)  # type: ignore[attr-defined]
class StoreHistoryAdmin(HistoryAdmin):
    list_display = ["pgh_created_at", "pgh_label", "external_id", "company_name", "pgh_context"]
    list_select_related = ["pgh_context"]
    search_fields = ["=external_id"]


@admin.register(Product.pgh_event_model)  # type: ignore[attr-defined]
class ProductHistoryAdmin(HistoryAdmin):
    list_display = ["pgh_created_at", "pgh_label", "external_id", "name", "version", "pgh_context"]
    list_select_related = ["pgh_context"]
    search_fields = ["=external_id"]
