from django.contrib import admin

from fulfillment.core.admin.read_only import HistoryAdmin
from stores.orders.models import Order


@admin.register(Order.pgh_event_model)  # type: ignore[attr-defined]
class OrderChangeAdmin(HistoryAdmin):
    shown = ("number", "status", "sequence")
    search_fields = ["=number"]
    search_help_text = "Order number, written out"
