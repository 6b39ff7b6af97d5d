from django.contrib import admin

from fulfillment.core.admin.read_only import HistoryAdmin
from stores.catalog.models import Product, Store
from stores.orders.models import Order
from stores.templates.models import Font


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


@admin.register(Order.pgh_event_model)  # type: ignore[attr-defined]
class OrderChangeAdmin(HistoryAdmin):
    shown = ("number", "status", "sequence")
    search_fields = ["=number"]
    search_help_text = "Order number, written out"


@admin.register(Font.pgh_event_model)  # type: ignore[attr-defined]
class FontHistoryAdmin(HistoryAdmin):
    shown = ("file_name", "families")
    search_fields = ["file_name"]
    search_help_text = "File"
