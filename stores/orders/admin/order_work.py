"""Comments and reprints on the page of an order, and saved views of the list."""

from typing import Any
from urllib.parse import parse_qsl, urlencode
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse

from accounts.admin.staff import staff_on
from accounts.callers import Caller
from fulfillment.core.errors import DomainError
from fulfillment.core.page_messages import errors_as_messages
from stores.catalog.admin.scoping import ORDER_GRANTS
from stores.catalog.models import Store
from stores.orders.admin.eddm_maps import OrderMaps
from stores.orders.admin.list_page import FILTER_NAMES
from stores.orders.admin.list_view import COLUMNS, SORT, VIEW
from stores.orders.models import Order
from stores.orders.services.comments import add_comment
from stores.orders.services.reprints import reprint_order
from stores.orders.services.views import delete_order_view, save_order_view

BOARD = "admin:stores_order_changelist"


class OrderWork(OrderMaps):
    def comment(self, request: HttpRequest, order_id: UUID) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        order = get_object_or_404(self.get_queryset(request), pk=order_id)
        if not self.has_change_permission(request, order):
            raise PermissionDenied
        with errors_as_messages(request):
            add_comment(order=order, author_id=request.user.pk, text=request.POST.get("comment", ""))
        return HttpResponseRedirect(reverse("admin:stores_order_change", args=[order_id]) + "#timeline")

    def reprint(self, request: HttpRequest, order_id: UUID) -> HttpResponse:
        """GET shows what would be printed again; POST orders it."""
        order: Order = get_object_or_404(self.get_queryset(request), pk=order_id)
        if not self.has_change_permission(request, order):
            raise PermissionDenied
        if request.method == "POST":
            sent = [int(one) for one in request.POST.getlist("item") if one.isascii() and one.isdigit()]
            known = request.POST.get("reprints", "")
            with errors_as_messages(request):
                made = reprint_order(
                    order=order,
                    positions=sent,
                    caller=Caller.on_pages(request.user),
                    known_reprints=int(known) if known.isascii() and known.isdigit() else -1,
                )
                messages.success(
                    request, f"Order {made.number} created. It prints order {order.number} again."
                )
                return HttpResponseRedirect(reverse("admin:stores_order_change", args=[made.pk]))
        context: dict[str, Any] = {
            **self.page_context(request, f"Reprint order {order.number}"),
            "order": order,
            "items": order.items.order_by("position"),
            "reprints": order.reprints.count(),
        }
        return TemplateResponse(request, "admin/stores/reprint.html", context)

    def save_view(self, request: HttpRequest) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not self.has_view_permission(request):
            raise PermissionDenied
        query = _view_query(request.POST.get("query", ""))
        try:
            view = save_order_view(
                owner=request.user,
                name=request.POST.get("name", ""),
                query=query,
                is_shared="is_shared" in request.POST and self._may_share(request, query),
                store_pk=self._shared_store(request, query),
            )
        except DomainError as error:
            messages.error(request, error.message)
            return HttpResponseRedirect(f"{reverse(BOARD)}?{query}")
        messages.success(request, f"View “{view.name}” saved.")
        return HttpResponseRedirect(f"{reverse(BOARD)}?{VIEW}={view.pk}&{query}")

    def forget_view(self, request: HttpRequest, view_id: int) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        with errors_as_messages(request):
            name = delete_order_view(owner=request.user, view_id=view_id)
            messages.success(request, f"View “{name}” deleted.")
        return HttpResponseRedirect(reverse(BOARD))

    def _may_share(self, request: HttpRequest, query: str) -> bool:
        stores = staff_on(request).stores_with(ORDER_GRANTS)
        return stores is None or self._shared_store(request, query) is not None

    def _shared_store(self, request: HttpRequest, query: str) -> int | None:
        """The store whose staff see a shared view: the user's only store, or the one the list is filtered by."""
        stores = staff_on(request).stores_with(ORDER_GRANTS)
        if stores is None:
            return None
        if len(stores) == 1:
            return stores[0]
        named = Store.objects.filter(external_id=dict(parse_qsl(query)).get("store", ""), pk__in=stores)
        return named.values_list("pk", flat=True).first()


def _view_query(query: str) -> str:
    """Filters, sort and columns of the query; a view stores nothing else."""
    known = {*FILTER_NAMES, SORT, COLUMNS}
    return urlencode([(name, value) for name, value in parse_qsl(query, max_num_fields=100) if name in known])
