"""The documents and maps of orders, each to be opened from the page of its order."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.admin.staff import StaffAdmin
from accounts.callers import Caller
from delivery.concurrency_limits import SELECTIONS
from delivery.selection.representations import allow_tiles, tiles_context
from fulfillment.core.api.responses import json_bytes
from fulfillment.core.errors import DomainError
from fulfillment.core.files.downloads import limited_pdf, pdf_response, serves_picture
from fulfillment.core.http.content_policies import ADMIN_POLICY
from fulfillment.core.page_messages import errors_as_messages
from fulfillment.core.recorded_texts import translated
from printing.preflight.findings import picture_of_page
from stores.orders.admin.downloads import picture_of_item, print_file_name
from stores.orders.eddm import drop_routes
from stores.orders.models import Order, OrderItem
from stores.orders.selectors.selections import routes_on_map
from stores.orders.services.eddm_papers import render_eddm_papers
from stores.orders.services.packing_slips import render_packing_slip
from stores.orders.services.print_files import print_file_pages, read_print_file

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
            with SELECTIONS.slot(Caller.on_pages(request.user).key):
                return json_bytes(request, routes_on_map(item))
        except DomainError as error:
            return HttpResponse(translated(error.message), status=error.status, content_type="text/plain")

    def _mailing_item(self, request: HttpRequest, order_id: UUID, position: int) -> OrderItem:
        item = self._item(request, order_id, position)
        if item.eddm is None:
            raise Http404(_("This item was not ordered for routes."))
        return item
