from django.contrib import admin

from fulfillment.read_only_admin import HistoryAdmin
from stores.models import Product, Store


@admin.register(Store.pgh_event_model)  # type: ignore[attr-defined]
class StoreHistoryAdmin(HistoryAdmin):
    shown = ("external_id", "company_name")
    search_fields = ["=external_id"]


@admin.register(Product.pgh_event_model)  # type: ignore[attr-defined]
class ProductHistoryAdmin(HistoryAdmin):
    shown = ("external_id", "name", "version")
    search_fields = ["=external_id"]
