"""What people do with orders beside moving them: documents, maps, comments, reprints and saved views of the list."""

from typing import Any
from urllib.parse import parse_qsl, urlencode
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.admin.staff import StaffAdmin, staff_on
from accounts.callers import Caller
from delivery.concurrency_limits import SELECTIONS
from delivery.selection.representations import allow_tiles, tiles_context
from fulfillment.core.api.responses import json_bytes
from fulfillment.core.errors import DomainError
from fulfillment.core.files.downloads import limited_pdf, pdf_response, serves_picture
from fulfillment.core.http.content_policies import ADMIN_POLICY
from fulfillment.core.page_messages import errors_as_messages
from fulfillment.core.text import parse_number
from printing.preflight.findings import picture_of_page
from stores.catalog.admin.scoping import ORDER_GRANTS
from stores.catalog.models import Store
from stores.orders.admin.downloads import picture_of_item, print_file_name
from stores.orders.admin.list_filters import COLUMNS, SORT, VIEW
from stores.orders.admin.list_page import FILTER_NAMES
from stores.orders.eddm import drop_routes
from stores.orders.models import Order, OrderItem
from stores.orders.selectors.selections import routes_on_map
from stores.orders.services.comments import add_comment
from stores.orders.services.eddm_papers import render_eddm_papers
from stores.orders.services.packing_slips import render_packing_slip
from stores.orders.services.print_files import print_file_pages, read_print_file
from stores.orders.services.reprints import reprint_order
from stores.orders.services.saved_views import delete_order_view, save_order_view, view_too_long

BOARD = "admin:stores_order_changelist"
MAX_LISTED = 500


class OrderDocuments(StaffAdmin):
    def print_file(self, request: HttpRequest, order_id: UUID, position: int) -> HttpResponseBase:
        item = self._item(request, order_id, position)
        key = Caller.on_pages(request.user).key
        with errors_as_messages(request), limited_pdf(item.print_bytes, key) as respond:
            response = respond(read_print_file(item=item), print_file_name(item))
            if "show" in request.GET:
                shown = response["Content-Disposition"].replace("attachment", "inline")
                response["Content-Disposition"] = shown
            return response
        return HttpResponseRedirect(self.address_of(item.order))

    @serves_picture
    def print_picture(
        self, request: HttpRequest, order_id: UUID, position: int, page: int, size: str
    ) -> HttpResponse:
        order = get_object_or_404(self.get_queryset(request), pk=order_id)
        return picture_of_item(request, order, position, page, size)

    def print_view(self, request: HttpRequest, order_id: UUID, position: int) -> HttpResponse:
        """The pages of one print file; the page of the order shows the same in a dialog."""
        item = self._item(request, order_id, position)
        title = _("Print file of order %(number)s") % {"number": item.order.number}
        with errors_as_messages(request):
            shown = enumerate(print_file_pages(item=item), 1)
            context: dict[str, Any] = {
                **self.page_context(request, title, below=item.order),
                "order": item.order,
                "item": item,
                "pages": [picture_of_page(item.preflight or [], number, page) for number, page in shown],
            }
            return TemplateResponse(request, "admin/stores/print_view.html", context)
        return HttpResponseRedirect(self.address_of(item.order))

    def packing_slip(self, request: HttpRequest, order_id: UUID) -> HttpResponse:
        order = get_object_or_404(self.get_queryset(request), pk=order_id)
        return pdf_response(
            render_packing_slip(order=order, caller=Caller.on_pages(request.user)),
            f"packing-slip-{order.number}.pdf",
        )

    def eddm_papers(self, request: HttpRequest, order_id: UUID, position: int) -> HttpResponse:
        item = self._item(request, order_id, position, "order__store")
        with errors_as_messages(request):
            content = render_eddm_papers(item=item, caller=Caller.on_pages(request.user))
            return pdf_response(content, f"eddm-papers-{item.order.number}-{position + 1}.pdf")
        return HttpResponseRedirect(self.address_of(item.order))

    def _item(self, request: HttpRequest, order_id: UUID, position: int, related: str = "order") -> OrderItem:
        order: Order = get_object_or_404(self.get_queryset(request), pk=order_id)
        return get_object_or_404(OrderItem.objects.select_related(related), order=order, position=position)

    def eddm_map(self, request: HttpRequest, order_id: UUID, position: int) -> HttpResponse:
        item = self._mailing_item(request, order_id, position)
        routes = list(drop_routes(item.eddm or {}))
        context: dict[str, Any] = {
            **self.page_context(
                request, _("Routes of order %(number)s") % {"number": item.order.number}, below=item.order
            ),
            **tiles_context(),
            "order": item.order,
            "item": item,
            "eddm": item.eddm_summary,
            "routes": routes[:MAX_LISTED],
            "route_count": len(routes),
            "map_routes": reverse("admin:stores_order_eddm_shapes", args=[order_id, position]),
        }
        response = TemplateResponse(request, "admin/stores/eddm_map.html", context)
        allow_tiles(response, ADMIN_POLICY)
        return response

    def eddm_shapes(self, request: HttpRequest, order_id: UUID, position: int) -> HttpResponse:
        item = self._mailing_item(request, order_id, position)
        try:
            with SELECTIONS.limited(Caller.on_pages(request.user).key):
                return json_bytes(request, routes_on_map(item))
        except DomainError as error:
            return HttpResponse(error.message, status=error.status, content_type="text/plain")

    def _mailing_item(self, request: HttpRequest, order_id: UUID, position: int) -> OrderItem:
        item = self._item(request, order_id, position)
        if item.eddm is None:
            raise Http404(_("This item was not ordered for routes."))
        return item


class OrderWork(StaffAdmin):
    def comment(self, request: HttpRequest, order_id: UUID) -> HttpResponse:
        order = self.record_for(request, order_id)
        with errors_as_messages(request):
            add_comment(order=order, author_id=request.user.pk, text=request.POST.get("comment", ""))
        return HttpResponseRedirect(f"{self.address_of(order)}#timeline")

    def reprint(self, request: HttpRequest, order_id: UUID) -> HttpResponse:
        """GET shows what would be printed again; POST orders it."""
        order: Order = self.record_for(request, order_id)
        if request.method == "POST":
            sent = [
                position
                for text in request.POST.getlist("item")
                if (position := parse_number(text)) is not None
            ]
            reprints = parse_number(request.POST.get("reprints", ""))
            with errors_as_messages(request):
                reprint = reprint_order(
                    order=order,
                    positions=sent,
                    caller=Caller.on_pages(request.user),
                    known_reprints=-1 if reprints is None else reprints,
                )
                messages.success(
                    request,
                    _("Order %(number)s created. It prints order %(original)s again.")
                    % {"number": reprint.number, "original": order.number},
                )
                return HttpResponseRedirect(self.address_of(reprint))
        context: dict[str, Any] = {
            **self.page_context(
                request, _("Reprint order %(number)s") % {"number": order.number}, below=order
            ),
            "order": order,
            "items": order.items.order_by("position").defer(*OrderItem.LARGE),
            "reprints": order.reprints.count(),
        }
        return TemplateResponse(request, "admin/stores/reprint.html", context)

    def save_view(self, request: HttpRequest) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        query = ""
        with errors_as_messages(request):
            query = _view_query(request.POST.get("query", ""))
            view = save_order_view(
                owner=request.user,
                name=request.POST.get("name", ""),
                query=query,
                is_shared="is_shared" in request.POST and self._may_share(request, query),
                store_pk=self._shared_store(request, query),
            )
            messages.success(request, _("View “%(name)s” saved.") % {"name": view.name})
            query = f"{VIEW}={view.pk}&{query}"
        return HttpResponseRedirect(f"{reverse(BOARD)}?{query}")

    def forget_view(self, request: HttpRequest, view_id: int) -> HttpResponse:
        with errors_as_messages(request):
            name = delete_order_view(owner=request.user, view_id=view_id)
            messages.success(request, _("View “%(name)s” deleted.") % {"name": name})
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
    stored = {*FILTER_NAMES, SORT, COLUMNS}
    try:
        sent = parse_qsl(query, max_num_fields=100)
    except ValueError as error:
        raise view_too_long() from error
    return urlencode([(name, value) for name, value in sent if name in stored])
