from django.contrib import admin

from fulfillment.core.admin.read_only import HistoryAdmin
from stores.catalog.models import Product, Store


@admin.register(Store.pgh_event_model)  # type: ignore[attr-defined]
class StoreHistoryAdmin(HistoryAdmin):
    shown = ("external_id", "company_name")
    search_fields = ["=external_id"]
    search_help_text = "StoreID, written out"


@admin.register(Product.pgh_event_model)  # type: ignore[attr-defined]
class ProductHistoryAdmin(HistoryAdmin):
    shown = ("external_id", "name", "version")
    search_fields = ["=external_id"]
    search_help_text = "Product ID, written out"
