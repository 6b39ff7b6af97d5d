"""Downloads of an order: print files, EDDM papers and the packing slip."""

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, OpenApiTypes, extend_schema
from rest_framework.request import Request
from rest_framework.settings import api_settings

from accounts.permissions import Permission
from fulfillment.core.api.access import Access
from fulfillment.core.api.responses import MediaTypeOnly, concurrency_errors, is_unchanged, not_modified
from fulfillment.core.api.viewsets import ApiViewSet
from fulfillment.core.files.downloads import limited_pdf, pdf_response
from stores.catalog.api.stores import NO_STORE, STORE_ID
from stores.orders.api.actions import NOT_FOUND, ORDER_ID
from stores.orders.api.orders import OWN_READ
from stores.orders.api.quotes import NO_ASSOCIATION
from stores.orders.selectors.access import READ
from stores.orders.selectors.orders import item_of, order_for
from stores.orders.services.eddm_papers import render_eddm_papers
from stores.orders.services.packing_slips import render_packing_slip
from stores.orders.services.print_files import read_print_file

ITEM_KEY = OpenApiParameter("item_key", str, OpenApiParameter.PATH, description="The ItemKey.")
STORE_READ = Access(
    rule="Every caller who may read all orders of the store may call it. The demo store is open to everyone.",
    permissions=(Permission.ORDER_ALL_READ.value,),
)
PDF = {(200, "application/pdf"): OpenApiTypes.BINARY}
ERRORS = {400: NO_STORE + ".", 403: NO_ASSOCIATION, 404: NOT_FOUND}


class PDFRenderer(MediaTypeOnly):
    media_type = "application/pdf"
    format = "pdf"


class OrderFileViewSet(ApiViewSet):
    tag = "Orders"
    renderer_classes = [*api_settings.DEFAULT_RENDERER_CLASSES, PDFRenderer]
    access = {"print_file": OWN_READ, "packing_slip": OWN_READ, "eddm_papers": STORE_READ}
    errors = {
        "print_file": {
            **ERRORS,
            404: "There is no such order, item or print file (`print_file_not_found`), or it was erased with the "
            "address of its order (`print_file_erased`).",
            **concurrency_errors("files to read or write"),
        },
        "packing_slip": {
            **ERRORS,
            409: "The packing slip cannot be rendered (`packing_slip_unusable`).",
            **concurrency_errors("renderings"),
        },
        "eddm_papers": {
            **ERRORS,
            404: "There is no such order or item, or it was not ordered for an EDDM selection "
            "(`eddm_papers_not_found`).",
            409: "The papers cannot be rendered, or are too many for one file (`eddm_papers_unusable`).",
            **concurrency_errors("renderings"),
        },
    }

    @extend_schema(
        operation_id="order_print_file",
        summary="Read the print file of an item",
        description=(
            "Returns the PDF rendered when the order was placed. Its SHA-256 is in the order and in the "
            "`ETag`."
        ),
        parameters=[STORE_ID, ORDER_ID, ITEM_KEY],
        responses=PDF,
    )
    def print_file(self, request: Request, store_id: str, order_id: str, item_key: str) -> HttpResponseBase:
        _, order = order_for(request.auth, store_id, order_id, READ)
        item = item_of(order, item_key)
        etag = f'"{item.print_sha256}"'
        if item.print_file and is_unchanged(request, etag):
            return not_modified(etag)
        with limited_pdf(item.print_bytes, request.auth.key) as respond:
            response = respond(read_print_file(item=item), f"{order.number}-{item.item_key}.pdf")
        response["ETag"] = etag
        return response

    @extend_schema(
        operation_id="order_eddm_papers",
        summary="Read the EDDM papers of an item",
        description=(
            "Returns a PDF for an item ordered for an EDDM selection. It has a drop list for each entry "
            "post office and day (at most 5,000 pieces of a ZIP code a day). It also has the bundles of "
            "each route (50 to 100 pieces; a route below 50 is one bundle), the data for PS Form 3587, and "
            "the facing slips with bar codes."
        ),
        parameters=[STORE_ID, ORDER_ID, ITEM_KEY],
        responses=PDF,
    )
    def eddm_papers(self, request: Request, store_id: str, order_id: str, item_key: str) -> HttpResponse:
        _, order = order_for(request.auth, store_id, order_id, STORE_READ.permissions)
        item = item_of(order, item_key)
        name = f"eddm-papers-{order.number}-{item.position + 1}.pdf"
        return pdf_response(render_eddm_papers(item=item, caller=request.auth), name)

    @extend_schema(
        operation_id="order_packing_slip",
        summary="Read the packing slip of an order",
        parameters=[STORE_ID, ORDER_ID],
        responses=PDF,
    )
    def packing_slip(self, request: Request, store_id: str, order_id: str) -> HttpResponse:
        _, order = order_for(request.auth, store_id, order_id, READ)
        return pdf_response(
            render_packing_slip(order=order, caller=request.auth), f"packing-slip-{order.number}.pdf"
        )
