"""The rows of a batch: sent as a file or JSON, listed, changed one by one, and downloaded as sheets."""

from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiTypes, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.settings import api_settings

from fulfillment.core.api.parameters import (
    AFTER,
    link_header,
    next_page,
    parse_flag,
    parse_whole_number,
    take_parameter,
)
from fulfillment.core.api.responses import CSVRenderer, MediaTypeOnly, concurrency_errors
from fulfillment.core.api.viewsets import ApiViewSet
from fulfillment.core.concurrency_limits import FILES, slot_if
from fulfillment.core.errors import Invalid
from fulfillment.core.files.downloads import XLSX, pdf_response
from fulfillment.core.files.uploads import FormParser, RawParser, uploaded_file
from stores.batches.api.batches import BATCH_ID, COMMON, OWN_READ, OWN_WRITE, SETTLED, batch_response
from stores.batches.api.examples import BATCH_EXAMPLE, CELLS_EXAMPLE, ROW_EXAMPLE, ROWS_EXAMPLE
from stores.batches.api.representations import row_records
from stores.batches.api.serializers import BatchRowSerializer, BatchSerializer, CellsField
from stores.batches.files.reading import MAX_BATCH_FILE_BYTES
from stores.batches.models import RowState
from stores.batches.row_files import rows_file, template_file
from stores.batches.selectors.batches import batch_for
from stores.batches.selectors.rows import is_long_page, page_of_rows, rows_of
from stores.batches.services.checking import correct_row
from stores.batches.services.contact_sheets import extreme_rows, render_contact_sheet
from stores.batches.services.rows import replace_rows
from stores.batches.services.uploads import alone_for, read_source
from stores.catalog.api.stores import NO_STORE, STORE_ID
from stores.orders.api.files import PDFRenderer
from stores.orders.selectors.access import READ, WRITE

ROW_KEY = OpenApiParameter("row_key", str, OpenApiParameter.PATH, description="The RowKey.")
DEFAULT_TAKE, MAX_TAKE = 100, 1000
TOO_LARGE = "a file of rows has at most 50 MB (52,428,800 bytes)"
STATE = OpenApiParameter(
    "state",
    {"type": "array", "items": {"type": "string", "enum": RowState.values}},
    explode=False,
    style="form",
    description="Only rows in these states.",
)
FORMAT = OpenApiParameter(
    "format", str, enum=["json", "csv", "xlsx"], description="Instead of an `Accept` header."
)
CHECK = OpenApiParameter(
    "check",
    bool,
    default=True,
    description=("`false` only reads the file and reports how columns were matched."),
)
SHEET_TAKE = 200


class RowsCSVParser(RawParser):
    media_type = "text/csv"


class RowsXLSXParser(RawParser):
    media_type = XLSX


class RowsJSONParser(RawParser):
    media_type = "application/json"


class RowsXLSX(MediaTypeOnly):
    media_type = XLSX
    format = "xlsx"


class RowsFormSerializer(serializers.Serializer):
    """One file; its name in the form does not matter."""

    file = serializers.FileField()


class BatchFileViewSet(ApiViewSet):
    tag = "Batches"
    parser_classes = [FormParser, RowsCSVParser, RowsXLSXParser, RowsJSONParser]
    maximum_bytes = MAX_BATCH_FILE_BYTES
    access = {"update": OWN_WRITE}
    errors = {
        "update": {
            **COMMON,
            400: f"{NO_STORE}, or the file cannot be read. The code and message give the position; `Row`, `Column` "
            "and `Value` repeat it.",
            409: f"{SETTLED}. Or another file for the batch is being read (`request_in_progress`).",
            **concurrency_errors("files to read or write, or changes of batches,"),
        }
    }

    @extend_schema(
        operation_id="batch_rows_replace",
        summary="Send the rows of a batch",
        description=(
            "Send a file of at most 50 MB as the raw body or as the only file of a form. It is CSV, XLSX, or JSON "
            "as an array of flat objects. CSV is UTF-8, UTF-16 or Windows-1252, with comma, semicolon or tab. Its "
            "rows replace the existing ones. A row that you send again unchanged keeps its key and is not "
            "rendered again."
        ),
        parameters=[STORE_ID, BATCH_ID, CHECK],
        request={
            "multipart/form-data": RowsFormSerializer,
            "text/csv": OpenApiTypes.BINARY,
            XLSX: OpenApiTypes.BINARY,
            "application/json": {
                "type": "array",
                "items": {"type": "object", "additionalProperties": True},
            },
        },
        responses={202: BatchSerializer},
        examples=[ROWS_EXAMPLE, BATCH_EXAMPLE],
    )
    def update(self, request: Request, store_id: str, batch_id: str) -> Response:
        access, batch = batch_for(request.auth, store_id, batch_id, WRITE)
        check = parse_flag({"check": "true", **request.query_params.dict()}, "check")
        # The body too is read in the slot: 50 MB of it take 100 MB of memory.
        with alone_for(batch):
            with FILES.slot(request.auth.key):
                content = uploaded_file(request, "rows", TOO_LARGE)
                uploaded = next(iter(request.FILES.values()), None) if request.FILES else None
                # With its charset.
                of_body = request.META.get("SENT_CONTENT_TYPE", request.content_type)
                source = read_source(
                    batch=batch,
                    content=content,
                    content_type=(uploaded.content_type if uploaded else of_body) or "",
                    name=(uploaded.name if uploaded else "") or "",
                )
            received = replace_rows(batch=batch, source=source, check=check)
        return batch_response(access, received, status=202)


class BatchRowViewSet(ApiViewSet):
    tag = "Batches"
    renderer_classes = [*api_settings.DEFAULT_RENDERER_CLASSES, CSVRenderer, RowsXLSX]
    access = {"list": OWN_READ}
    errors = {
        "list": {
            **COMMON,
            400: f"{NO_STORE}, or a parameter is not understood (`parameter_invalid`).",
            **concurrency_errors("exports or long pages"),
        },
    }

    @extend_schema(
        operation_id="batch_row_list",
        summary="List the rows of a batch",
        description=(
            'Returns the rows in file order; follow `Link: rel="next"`. A page may have fewer rows than '
            "`take`. As CSV or XLSX, returns all rows with their values, problems, order and tracking."
        ),
        parameters=[
            STORE_ID,
            BATCH_ID,
            STATE,
            AFTER,
            take_parameter(default=DEFAULT_TAKE, largest=MAX_TAKE),
            FORMAT,
            link_header(),
        ],
        responses={
            (200, "application/json"): BatchRowSerializer(many=True),
            (200, "text/csv"): OpenApiTypes.STR,
            (200, XLSX): OpenApiTypes.BINARY,
        },
        examples=[ROW_EXAMPLE],
    )
    def list(self, request: Request, store_id: str, batch_id: str) -> Response | StreamingHttpResponse:
        _, batch = batch_for(request.auth, store_id, batch_id, READ)
        query, states = request.query_params, _read_states(request)
        format_name = query.get("format", request.accepted_renderer.format)
        if format_name not in ("json", "csv", "xlsx"):
            raise Invalid.at("?format", "parameter_invalid", "format: write json, csv or xlsx.")
        if format_name != "json":
            return rows_file(batch, states, format_name, request.auth)
        take = parse_whole_number(query, "take", default=DEFAULT_TAKE, most=MAX_TAKE)
        after = parse_whole_number(query, "after", default=0, most=999_999_999, least=0)
        rows = rows_of(batch, states=states, after=after)
        with slot_if(take > DEFAULT_TAKE or is_long_page(rows, take=take), request.auth.key):
            page, more = page_of_rows(rows, take=take)
            records = row_records(batch, page)
        path = f"/store/{store_id}/batch/{batch_id}/row"
        headers = next_page(path, query.items(), str(page[-1].number)) if page and more else {}
        return Response(records, headers=headers)


class BatchRowChangeViewSet(ApiViewSet):
    tag = "Batches"
    access = {"partial_update": OWN_WRITE}
    errors = {
        "partial_update": {
            **COMMON,
            400: f"{NO_STORE}, or the file has no such column (`column_unknown`).",
            404: "There is no such batch (`batch_not_found`) or row (`row_not_found`) for this caller.",
            409: f"{SETTLED}.",
            **concurrency_errors("changes of batches"),
        },
    }

    @extend_schema(
        operation_id="batch_row_update",
        summary="Correct a row",
        description=(
            "Send a flat object of columns and their new values. Only this row is checked and rendered "
            "again, at once; it keeps its key. If the service is busy, the row is saved as `Pending`, and "
            "the batch is `Checking` until the row is checked too."
        ),
        parameters=[STORE_ID, BATCH_ID, ROW_KEY],
        request={"application/json": {"type": "object", "additionalProperties": {"type": "string"}}},
        responses={200: BatchRowSerializer},
        examples=[CELLS_EXAMPLE, ROW_EXAMPLE],
    )
    def partial_update(self, request: Request, store_id: str, batch_id: str, row_key: str) -> Response:
        _, batch = batch_for(request.auth, store_id, batch_id, WRITE)
        cells = CellsField().run_validation(request.data)
        row = correct_row(batch=batch, row_key=row_key, cells=cells)
        return Response(row_records(batch, [row])[0])


def _read_states(request: Request) -> list[str]:
    states = [state for text in request.query_params.getlist("state") for state in text.split(",") if state]
    if unknown := [state for state in states if state not in RowState.values]:
        message = f"state: {unknown[0][:40]!r} is none; write {', '.join(RowState.values)}."
        raise Invalid.at("?state", "parameter_invalid", message)
    return states


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
            take_parameter(default=SHEET_TAKE, largest=MAX_TAKE),
            link_header(),
        ],
        responses={(200, "application/pdf"): OpenApiTypes.BINARY},
    )
    def contact_sheet(self, request: Request, store_id: str, batch_id: str) -> HttpResponse:
        _, batch = batch_for(request.auth, store_id, batch_id, READ)
        query = request.query_params
        if query.get("rows", "all") not in ("all", "extremes"):
            raise Invalid.at("?rows", "parameter_invalid", "rows: write all or extremes.")
        take = parse_whole_number(query, "take", default=SHEET_TAKE, most=MAX_TAKE)
        after = parse_whole_number(query, "after", default=0, most=999_999_999, least=0)
        # Rows are read in a slot as well: all of a batch take 100 MB of memory.
        with FILES.slot(request.auth.key):
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
