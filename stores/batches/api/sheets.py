from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiTypes, extend_schema
from rest_framework.request import Request
from rest_framework.settings import api_settings

from fulfillment.core.api.parameters import AFTER, link_header, next_page, take_parameter, whole_parameter
from fulfillment.core.api.responses import CSVRenderer, concurrency_errors
from fulfillment.core.api.viewsets import ApiViewSet
from fulfillment.core.concurrency_limits import FILES
from fulfillment.core.errors import Invalid
from fulfillment.core.files.downloads import XLSX, pdf_response
from stores.batches.api.batches import BATCH_ID, COMMON, OWN_READ
from stores.batches.api.rows import RowsXLSX
from stores.batches.row_files import template_file
from stores.batches.selectors import batch_for, rows_of
from stores.batches.services.sheets import extreme_rows, render_contact_sheet
from stores.catalog.api.stores import STORE_ID
from stores.orders.api.files import PDFRenderer
from stores.orders.selectors.access import READ

DEFAULT_TAKE, MAX_TAKE = 200, 1000


class BatchSheetViewSet(ApiViewSet):
    tag = "Batches"
    renderer_classes = [*api_settings.DEFAULT_RENDERER_CLASSES, PDFRenderer, CSVRenderer, RowsXLSX]
    access = {"contact_sheet": OWN_READ, "template": OWN_READ}
    errors = {
        "contact_sheet": {**COMMON, **concurrency_errors("files to read or write")},
        "template": COMMON,
    }

    @extend_schema(
        operation_id="batch_contact_sheet",
        summary="Read the contact sheet of a batch",
        description=(
            "Returns a PDF with the first page and the problems of each row, twenty rows to a page. Follow "
            '`Link: rel="next"` for more rows. `rows=extremes` shows, for each field, the longest text, '
            "the shortest text and a row without text. It also shows the row with the most pages if page "
            "counts differ."
        ),
        parameters=[
            STORE_ID,
            BATCH_ID,
            OpenApiParameter("rows", str, enum=["all", "extremes"], default="all"),
            AFTER,
            take_parameter(default=DEFAULT_TAKE, largest=MAX_TAKE),
            link_header(),
        ],
        responses={(200, "application/pdf"): OpenApiTypes.BINARY},
    )
    def contact_sheet(self, request: Request, store_id: str, batch_id: str) -> HttpResponse:
        _, batch = batch_for(request.auth, store_id, batch_id, READ)
        query = request.query_params
        if query.get("rows", "all") not in ("all", "extremes"):
            raise Invalid.at("?rows", "parameter_invalid", "rows: write all or extremes.")
        take = whole_parameter(query, "take", default=DEFAULT_TAKE, most=MAX_TAKE)
        after = whole_parameter(query, "after", default=0, most=999_999_999, least=0)
        # Rows are read in turn as well: all of a batch take 100 MB of memory.
        with FILES.limited(request.auth.key):
            if query.get("rows") == "extremes":
                rows = extreme_rows(batch, after=after)[: take + 1]
            else:
                rows = list(rows_of(batch, after=after)[: take + 1])
            content = render_contact_sheet(batch=batch, rows=rows[:take], caller=request.auth)
        response = pdf_response(content, f"batch-{batch.pk}.pdf")
        if len(rows) > take:
            path = f"/store/{store_id}/batch/{batch_id}/contact-sheet"
            for name, value in next_page(path, query.items(), str(rows[take - 1].number)).items():
                response[name] = value
        return response

    @extend_schema(
        operation_id="batch_template",
        summary="Read the row template of a batch",
        description=(
            "Returns a file with the headers that match automatically, an example row and the allowed values."
        ),
        parameters=[
            STORE_ID,
            BATCH_ID,
            OpenApiParameter("format", str, enum=["csv", "xlsx"], default="xlsx"),
        ],
        responses={(200, XLSX): OpenApiTypes.BINARY, (200, "text/csv"): OpenApiTypes.STR},
    )
    def template(self, request: Request, store_id: str, batch_id: str) -> HttpResponse:
        _, batch = batch_for(request.auth, store_id, batch_id, READ)
        form = request.query_params.get("format", "xlsx")
        if form not in ("csv", "xlsx"):
            raise Invalid.at("?format", "parameter_invalid", "format: write csv or xlsx.")
        return template_file(batch, "csv" if form == "csv" else "xlsx")
