from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from accounts.admin.staff import staff_on
from fulfillment.core.admin.base import ConsoleInline
from stores.orders.models import OrderHistory, OrderItem, OrderStatus, Shipment


class ReadOnlyInline(ConsoleInline):
    """Shown to whoever may see the order."""

    max_num = 0
    can_delete = False
    per_page = 50

    def has_view_permission(self, request: HttpRequest, instance: Any = None) -> bool:
        return True

    def has_add_permission(self, request: HttpRequest, instance: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, instance: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, instance: Any = None) -> bool:
        return False


class OrderItemInline(ReadOnlyInline):
    model = OrderItem
    fields = [
        "item_key",
        "product_name",
        "product_external_id",
        "quantity",
        "unit_price",
        "line_total",
        "file",
    ]
    readonly_fields = fields
    ordering = ["position"]
    verbose_name_plural = "items"

    @admin.display(description="print file")
    def file(self, item: OrderItem) -> str:
        if not item.print_file:
            return "—"
        address = reverse("admin:stores_order_print_file", args=[item.order_id, item.position])
        return format_html('<a class="console-link" href="{}">PDF of {}</a>', address, item.item_key)


class ShipmentInline(ReadOnlyInline):
    model = Shipment
    fields = ["carrier", "tracking_number", "link", "shipped"]
    readonly_fields = fields

    @admin.display(description="tracking")
    def link(self, shipment: Shipment) -> str:
        if not shipment.tracking_url.startswith(("https://", "http://")):
            return shipment.tracking_url or "—"
        return format_html(
            '<a class="console-link" rel="noreferrer" href="{}">Follow {}</a>',
            shipment.tracking_url,
            shipment.tracking_number,
        )


class OrderHistoryInline(ReadOnlyInline):
    model = OrderHistory
    fields = ["sequence", "before", "after", "timestamp", "actor_kind", "actor", "note"]
    readonly_fields = [*fields, "who"]
    ordering = ["-sequence"]
    verbose_name_plural = "history"

    def get_fields(self, request: HttpRequest, order: Any = None) -> Any:
        """Django makes the person a link to their record, which only operators may open."""
        if staff_on(request).is_operator:
            return self.fields
        return ["who" if name == "actor" else name for name in self.fields]

    @admin.display(description="actor")
    def who(self, entry: OrderHistory) -> str:
        return str(entry.actor or "—")

    @admin.display(description="previous status")
    def before(self, entry: OrderHistory) -> str:
        return "—" if entry.previous_status is None else OrderStatus(entry.previous_status).words

    @admin.display(description="status")
    def after(self, entry: OrderHistory) -> str:
        return OrderStatus(entry.status).words

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related("actor")
