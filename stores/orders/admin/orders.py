"""The console's list of orders, and the page that shows an order and moves it to another status."""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ERROR_FLAG
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from accounts.admin.staff import staff_on
from accounts.callers import Caller
from accounts.permissions import ORDER_GRANTS, Permission
from fulfillment.core.admin.base import ExtraPage
from fulfillment.core.errors import DomainError
from fulfillment.core.text import parse_uuid
from stores.catalog.admin.scoping import DayFilter, ModeFilter, StoreFilter
from stores.orders.admin.actions import OrderActions, OrderTransitionForm, ParcelForm, shown_reason
from stores.orders.admin.actors import actor_on
from stores.orders.admin.comments_and_reprints import CommentsAndReprints
from stores.orders.admin.downloads import csv_response
from stores.orders.admin.list_filters import (
    BatchFilter,
    DeliveryFilter,
    DueFilter,
    OrderList,
    ProductFilter,
    StatusFilter,
)
from stores.orders.admin.list_page import list_page
from stores.orders.admin.order_documents import OrderDocuments
from stores.orders.admin.order_page import FINAL, decision_page, order_page
from stores.orders.admin.saved_views import BOARD, SavedViews
from stores.orders.admin.steps import REFUSE, kind_of
from stores.orders.models import Order, OrderStatus
from stores.orders.selectors.board import number_range
from stores.orders.selectors.search import MAX_NEWEST, search_orders
from stores.orders.services.cancellation import refuse_cancellation
from stores.orders.services.transitions import Parcel, transition_order

MANY_FOUND = gettext_lazy(
    "Many orders have these words. The newest %(newest)s are listed; add a word or a filter to find others."
)


@admin.register(Order)
class OrderAdmin(OrderActions, OrderDocuments, CommentsAndReprints, SavedViews):
    """The order list. Every change goes through the service, which records history and event."""

    harmless_pages = (
        "change",
        "ship",
        "export",
        "save_view",
        "delete_view",
        "comment",
        "reprint",
        "print_file",
        "print_view",
        "print_picture",
        "packing_slip",
        "eddm_papers",
        "eddm_map",
        "eddm_shapes",
    )
    forbidden = ("add", "delete")
    view_grants: Sequence[str] = ORDER_GRANTS
    change_grants: Sequence[str] = (Permission.ORDER_ALL_WRITE,)
    handles_conflicts = True
    form = OrderTransitionForm
    # The page shows the columns that the user chose: list_page.py.
    list_display = ["number", "status", "store", "application", "total", "created"]
    sortable_by = ()
    ordering = ["-number"]
    list_filter = [
        ("status", StatusFilter),
        DueFilter,
        "cancellation",
        DeliveryFilter,
        ProductFilter,
        BatchFilter,
        StoreFilter,
        ("created", DayFilter),
        ModeFilter,
    ]
    list_filter_submit = True
    search_fields = ["number"]
    search_help_text = "Number, ExternalID, recipient, company, e-mail, city, postal code, product, tracking"
    change_list_template = "admin/stores/order_list.html"
    empty_help = (
        "Orders arrive through the API. The quick start in the portal shows how to send the first one."
    )
    change_form_template = "admin/stores/order.html"
    actions = [
        "accept",
        "hold",
        "produce",
        "ship",
        "deliver",
        "download_print_files",
        "download_packing_slips",
        "export_csv",
        "refuse",
        "cancel",
    ]
    fields = ["move_to", "note", "carrier", "tracking_number", "seen"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Order]:
        orders = super().get_queryset(request).select_related("store", "application")
        return orders.defer("rendering", "metadata", "store__rendering", "store__verbose_rendering")

    def scope_queryset(self, request: HttpRequest, orders: QuerySet[Order]) -> QuerySet[Order]:
        visible = super().scope_queryset(request, orders)
        stores = staff_on(request).stores_with(self.view_grants)
        if stores is None or len(stores) < 2:
            return visible
        numbers = number_range(stores)
        return visible.filter(number__range=numbers) if numbers else visible.none()

    def get_changelist(self, request: HttpRequest, **options: Any) -> type[OrderList]:
        return OrderList

    def get_search_results(
        self, request: HttpRequest, records: QuerySet, search_term: str
    ) -> tuple[QuerySet, bool]:
        if not search_term.strip():
            return records, False
        stores = staff_on(request).stores_with(self.view_grants)
        result = search_orders(records, search_term, stores=stores)
        if result.is_cut:
            messages.info(request, MANY_FOUND % {"newest": MAX_NEWEST})
        return result.orders, False

    def extra_pages(self) -> list[ExtraPage]:
        return [
            ("ship/", self.ship_view, "ship"),
            ("export/", self.export_view, "export"),
            ("views/save", require_POST(self.save_view), "save_view"),
            ("views/<int:view_id>/delete", require_POST(self.forget_view), "delete_view"),
            ("<uuid:order_id>/comment", require_POST(self.comment), "comment"),
            ("<uuid:order_id>/reprint", self.reprint, "reprint"),
            ("<uuid:order_id>/print-file/<int:position>", self.print_file, "print_file"),
            ("<uuid:order_id>/print-file/<int:position>/pages", self.print_view, "print_view"),
            (
                "<uuid:order_id>/print-file/<int:position>/<int:page>-<slug:size>.png",
                self.print_picture,
                "print_picture",
            ),
            ("<uuid:order_id>/packing-slip", self.packing_slip, "packing_slip"),
            ("<uuid:order_id>/eddm-papers/<int:position>", self.eddm_papers, "eddm_papers"),
            ("<uuid:order_id>/eddm-map/<int:position>", self.eddm_map, "eddm_map"),
            ("<uuid:order_id>/eddm-map/<int:position>/shapes", self.eddm_shapes, "eddm_shapes"),
        ]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        response = super().changelist_view(request, extra_context)
        if isinstance(response, TemplateResponse) and response.context_data and "cl" in response.context_data:
            response.context_data |= list_page(request, response.context_data["cl"])
            response.context_data["bulk_actions"] = [
                (name, label, kind_of(name)) for _function, name, label in self.get_actions(request).values()
            ]
        return response

    def export_view(self, request: HttpRequest) -> HttpResponseBase:
        """Exports all pages of the filtered list."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        try:
            listed = self.get_changelist_instance(request).get_queryset(request)
        except IncorrectLookupParameters:
            # The same response as the list gives to an invalid filter.
            return HttpResponseRedirect(f"{reverse(BOARD)}?{ERROR_FLAG}=1")
        return csv_response(listed, Caller.on_pages(request.user))

    def ship_view(self, request: HttpRequest) -> HttpResponse:
        """Ships several orders, each with its parcel."""
        form_data = request.POST if request.method == "POST" else None
        keys = [key for text in (form_data or request.GET).getlist("id") if (key := parse_uuid(text))]
        orders = self.get_queryset(request).filter(pk__in=keys)
        forms = [
            ParcelForm(form_data, order=order)
            for order in orders.order_by("number")
            if self.has_change_permission(request, order)
        ]
        if not forms:
            messages.error(request, _("Select the orders to ship in the list first."))
            return HttpResponseRedirect(reverse(BOARD))
        if form_data is not None and all(form.is_valid() for form in forms):
            self._say(request, [self._ship(request, form) for form in forms])
            return HttpResponseRedirect(reverse(BOARD))
        context = {
            **self.page_context(request, _("Ship orders")),
            "forms": forms,
        }
        return TemplateResponse(request, "admin/stores/ship.html", context)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        step = request.POST.get("move_to", "") if self.has_change_permission(request) else ""
        if step in FINAL:
            key = parse_uuid(str(args[0])) if args else None
            chosen_orders = self.get_queryset(request).filter(pk__in=[key] if key else [])
            if page := decision_page(self, request, step, chosen_orders):
                return page
        try:
            return super().changeform_view(request, *args, **kwargs)
        except DomainError as error:
            messages.error(request, shown_reason(error))
            return HttpResponseRedirect(request.get_full_path())

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        order = context["original"]
        shown = order_page(request, order, context["adminform"].form)
        return super().render_change_form(request, {**context, **shown}, *args, **kwargs)

    def response_change(self, request: HttpRequest, order: Order) -> HttpResponse:
        """Returns to the page of the order with a message of the result."""
        moved = request.POST.get("move_to")
        status = OrderStatus(Order.objects.values_list("status", flat=True).get(pk=order.pk)).shown
        if not moved:
            messages.info(request, _("Nothing was changed: no step was chosen."))
        elif moved == REFUSE:
            messages.success(
                request, _("The cancellation of order %(number)s was refused.") % {"number": order.number}
            )
        else:
            messages.success(
                request, _("Order %(number)s: %(status)s.") % {"number": order.number, "status": status}
            )
        return HttpResponseRedirect(request.get_full_path())

    def save_model(self, request: HttpRequest, order: Order, form: OrderTransitionForm, change: bool) -> None:
        values, actor = form.cleaned_data, actor_on(request)
        etags = [values["seen"]]
        if values["move_to"] == REFUSE:
            refuse_cancellation(order=order, actor=actor, note=values["note"], if_match=etags)
        elif values["move_to"]:
            parcel = Parcel(values["carrier"], values["tracking_number"])
            transition_order(
                order=order,
                status=int(values["move_to"]),
                actor=actor,
                note=values["note"],
                parcels=[parcel] if parcel.carrier else [],
                if_match=etags,
            )
