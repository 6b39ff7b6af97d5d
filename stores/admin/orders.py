from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from unfold.admin import ModelAdmin, TabularInline
from unfold.decorators import display

from fulfillment.errors import DomainError
from fulfillment.read_only_admin import ReadOnlyAdmin
from stores.models import ActorKind, Order, OrderHistory, OrderItem, OrderStatus, Quote, Shipment
from stores.models.order_status import MOVES, WITH_SHIPMENTS
from stores.order_renderings import order_etag
from stores.services.order_moves import Actor, Parcel, move_order, refuse_cancellation
from stores.services.packing_slips import render_packing_slip
from stores.services.print_files import read_print_file

REFUSE = "refuse"
COLOURS = {
    OrderStatus.RECEIVED: "info",
    OrderStatus.ON_HOLD: "warning",
    OrderStatus.ACCEPTED: "info",
    OrderStatus.IN_PRODUCTION: "primary",
    OrderStatus.PARTIALLY_SHIPPED: "primary",
    OrderStatus.SHIPPED: "success",
    OrderStatus.DELIVERED: "success",
    OrderStatus.RETURNED: "danger",
    OrderStatus.CANCELLED: "danger",
    OrderStatus.REJECTED: "danger",
}


class OrderMoveForm(forms.ModelForm):
    """One move, made on what the person saw: another change in between refuses it."""

    move_to = forms.ChoiceField(required=False, label="Move to")
    note = forms.CharField(required=False, max_length=1000, widget=forms.TextInput(attrs={"size": 60}))
    carrier = forms.CharField(required=False, max_length=60)
    tracking_number = forms.CharField(required=False, max_length=100)
    seen = forms.CharField(widget=forms.HiddenInput)

    class Meta:
        model = Order
        fields: Sequence[str] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        order = self.instance
        codes = [*sorted(MOVES.get(order.status, ()))]
        if order.status in WITH_SHIPMENTS:
            codes.insert(0, order.status)
        choices = [("", "—"), *((str(int(code)), OrderStatus(code).label) for code in codes)]
        if order.cancellation == "Requested":
            choices.append((REFUSE, "Refuse to cancel"))
        self.fields["move_to"].choices = choices  # type: ignore[attr-defined]
        self.fields["seen"].initial = order_etag(order) if order.pk else ""

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if bool(values.get("carrier")) != bool(values.get("tracking_number")):
            raise forms.ValidationError("A parcel needs its carrier and its tracking number.")
        return values


class ReadOnlyInline(TabularInline):
    extra = 0
    max_num = 0
    can_delete = False

    def has_change_permission(self, request: HttpRequest, instance: Any = None) -> bool:
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

    @admin.display(description="print file")
    def file(self, item: OrderItem) -> str:
        if not item.print_file:
            return "—"
        address = reverse("admin:stores_order_print_file", args=[item.order_id, item.position])
        return format_html('<a href="{}">PDF</a>', address)


class ShipmentInline(ReadOnlyInline):
    model = Shipment
    fields = ["carrier", "tracking_number", "tracking_url", "shipped"]
    readonly_fields = fields


class OrderHistoryInline(ReadOnlyInline):
    model = OrderHistory
    fields = ["sequence", "previous_status", "status", "timestamp", "actor_kind", "actor", "note"]
    readonly_fields = fields
    ordering = ["sequence"]


@admin.register(Order)
class OrderAdmin(ModelAdmin):
    """The board. Every move goes through the service, with its table, history and event."""

    form = OrderMoveForm
    inlines = [OrderItemInline, ShipmentInline, OrderHistoryInline]
    list_display = [
        "number",
        "shown_status",
        "store",
        "application",
        "external_id",
        "recipient_name",
        "item_count",
        "total",
        "cancellation",
        "created",
    ]
    list_filter = ["status", "cancellation", "store", "delivery_method_code"]
    list_select_related = ["store", "application"]
    search_fields = ["=number", "=external_id", "store__external_id"]
    ordering = ["-number"]
    list_per_page = 50
    show_full_result_count = False
    actions = ["accept", "hold", "produce", "ship", "deliver", "cancel", "refuse"]
    readonly_fields = [
        "number",
        "shown_status",
        "store",
        "application",
        "user",
        "external_id",
        "created",
        "updated",
        "cancellable_until",
        "cancellation",
        "cancellation_reason",
        "delivery_method_code",
        "production_days",
        "earliest_delivery",
        "latest_delivery",
        "address",
        "total",
        "currency",
        "slip",
    ]
    fieldsets = [
        ("Next step", {"fields": ["move_to", "note", "carrier", "tracking_number", "seen"]}),
        (None, {"fields": readonly_fields}),
    ]

    @display(description="status", label={status.label: colour for status, colour in COLOURS.items()})
    def shown_status(self, order: Order) -> str:
        return order.get_status_display()

    @admin.display(description="recipient")
    def recipient_name(self, order: Order) -> str:
        return str(order.recipient["Name"])

    @admin.display(description="recipient")
    def address(self, order: Order) -> str:
        return ", ".join(value for value in order.recipient.values() if value)

    @admin.display(description="packing slip")
    def slip(self, order: Order) -> str:
        return format_html(
            '<a href="{}">PDF</a>', reverse("admin:stores_order_packing_slip", args=[order.pk])
        )

    @admin.action(description="Accept")
    def accept(self, request: HttpRequest, chosen: QuerySet) -> None:
        self._move(request, chosen, OrderStatus.ACCEPTED)

    @admin.action(description="Put on hold")
    def hold(self, request: HttpRequest, chosen: QuerySet) -> None:
        self._move(request, chosen, OrderStatus.ON_HOLD)

    @admin.action(description="Start production")
    def produce(self, request: HttpRequest, chosen: QuerySet) -> None:
        self._move(request, chosen, OrderStatus.IN_PRODUCTION)

    @admin.action(description="Mark as shipped")
    def ship(self, request: HttpRequest, chosen: QuerySet) -> None:
        self._move(request, chosen, OrderStatus.SHIPPED)

    @admin.action(description="Mark as delivered")
    def deliver(self, request: HttpRequest, chosen: QuerySet) -> None:
        self._move(request, chosen, OrderStatus.DELIVERED)

    @admin.action(description="Cancel")
    def cancel(self, request: HttpRequest, chosen: QuerySet) -> None:
        self._move(request, chosen, OrderStatus.CANCELLED)

    @admin.action(description="Refuse to cancel")
    def refuse(self, request: HttpRequest, chosen: QuerySet) -> None:
        self._move(request, chosen, None)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, order: Order | None = None) -> bool:
        return False

    def get_urls(self) -> list[URLPattern]:
        own = [
            path(
                "<uuid:order_id>/print-file/<int:position>",
                self.admin_site.admin_view(self.print_file),
                name="stores_order_print_file",
            ),
            path(
                "<uuid:order_id>/packing-slip",
                self.admin_site.admin_view(self.packing_slip),
                name="stores_order_packing_slip",
            ),
        ]
        urls: list[URLPattern] = super().get_urls()
        return [*own, *urls]

    def print_file(self, request: HttpRequest, order_id: UUID, position: int) -> HttpResponse:
        item = get_object_or_404(OrderItem.objects.select_related("order"), order=order_id, position=position)
        try:
            content = read_print_file(item=item)
        except DomainError as error:
            messages.error(request, error.message)
            return HttpResponseRedirect(reverse("admin:stores_order_change", args=[order_id]))
        return _pdf(content, f"{item.order.number}-{item.item_key}.pdf")

    def packing_slip(self, request: HttpRequest, order_id: UUID) -> HttpResponse:
        order = get_object_or_404(Order.objects.select_related("store"), pk=order_id)
        return _pdf(render_packing_slip(order=order), f"packing-slip-{order.number}.pdf")

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().changeform_view(request, *args, **kwargs)
        except DomainError as error:
            messages.error(request, error.message)
            return HttpResponseRedirect(request.get_full_path())

    def save_model(self, request: HttpRequest, order: Order, form: OrderMoveForm, change: bool) -> None:
        values, actor = form.cleaned_data, _actor(request)
        seen = [values["seen"]]
        if values["move_to"] == REFUSE:
            refuse_cancellation(order=order, actor=actor, note=values["note"], if_match=seen)
        elif values["move_to"]:
            parcel = Parcel(values["carrier"], values["tracking_number"])
            move_order(
                order=order,
                status=int(values["move_to"]),
                actor=actor,
                note=values["note"],
                parcels=[parcel] if parcel.carrier else [],
                if_match=seen,
            )

    def _move(self, request: HttpRequest, chosen: QuerySet, status: int | None) -> None:
        moved = 0
        for order in chosen.order_by("store", "position"):
            try:
                if status is None:
                    refuse_cancellation(order=order, actor=_actor(request))
                else:
                    move_order(order=order, status=status, actor=_actor(request))
                moved += 1
            except DomainError as error:
                messages.error(request, f"{order.number}: {error.message}")
        if moved:
            messages.success(request, f"{moved} orders moved." if moved > 1 else "1 order moved.")


@admin.register(Quote)
class QuoteAdmin(ReadOnlyAdmin):
    list_display = ["id", "store", "application", "country_code", "created", "expires"]
    list_select_related = ["store", "application"]
    list_filter = ["store"]
    show_full_result_count = False
    ordering = ["-expires"]


def _actor(request: HttpRequest) -> Actor:
    return Actor(ActorKind.OPERATOR, request.user.pk)


def _pdf(content: bytes, name: str) -> HttpResponse:
    disposition = f'attachment; filename="{name}"'
    return HttpResponse(content, content_type="application/pdf", headers={"Content-Disposition": disposition})
