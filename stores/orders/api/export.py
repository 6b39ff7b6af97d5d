from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiTypes, extend_schema
from rest_framework.request import Request
from rest_framework.settings import api_settings

from fulfillment.core.api.access import Access
from fulfillment.core.api.responses import concurrency_errors, json_bytes
from fulfillment.core.api.viewsets import ApiViewSet
from fulfillment.core.concurrency_limits import FILES
from fulfillment.core.errors import raise_faults
from stores.orders.api.examples import EXPORT_EXAMPLE
from stores.orders.api.export_parameters import DEFAULT_TAKE, PARAMETERS, CSVRenderer, ExportParameters
from stores.orders.api.quotes import NO_ASSOCIATION, NO_STORE
from stores.orders.api.serializers import ExportRowSerializer
from stores.orders.csv_rows import csv_chunks
from stores.orders.representations import EXPORT_COLUMNS, dumps
from stores.orders.selectors.access import READ, StoreAccess, authorize_store
from stores.orders.selectors.export import (
    MAX_COUNTED,
    export_count,
    export_page,
    export_rows,
    fitting_page,
    verbose_records,
)

ANSWERED = [
    OpenApiParameter(name, kind, OpenApiParameter.HEADER, response=[200], description=text)
    for name, kind, text in (
        ("Link", str, 'The next page, as `<address>; rel="next"`; not on the last one, nor with CSV.'),
        (
            "X-Total-Count",
            int,
            f"How many orders match; not with CSV, nor where filters match more than {MAX_COUNTED:,}.",
        ),
    )
]


class OrderExportViewSet(ApiViewSet):
    tag = "Orders"
    reads_own_query = True
    renderer_classes = [*api_settings.DEFAULT_RENDERER_CLASSES, CSVRenderer]
    access = {
        "list": Access(
            rule="With `Order.All.Read` every order of the store, with `Order.Self.Read` the caller's own. The demo "
            "store is everyone's.",
            permissions=READ,
            subscription_key_required=False,
        )
    }
    errors = {
        "list": {
            400: f"{NO_STORE}, or a parameter is not understood (`parameter_invalid`).",
            403: NO_ASSOCIATION,
            404: "There is nothing at this address.",
            **concurrency_errors("exports as CSV"),
        }
    }

    @extend_schema(
        operation_id="order_exportview",
        summary="Export the orders of a store",
        description='Oldest first. Follow `Link: rel="next"` to walk through any number of orders: it costs the same '
        "at any depth, and orders that arrive meanwhile are neither missed nor shown twice. `X-Total-Count` is how "
        "many match. `Accept: text/csv` streams the same columns.",
        parameters=[*PARAMETERS, *ANSWERED],
        responses={
            (200, "application/json"): ExportRowSerializer(many=True),
            (200, "text/csv"): OpenApiTypes.STR,
        },
        examples=[EXPORT_EXAMPLE],
    )
    def list(self, request: Request, store_id: str) -> HttpResponse | StreamingHttpResponse:
        parameters = ExportParameters(request)
        access = authorize_store(request.auth, store_id, READ)
        raise_faults(parameters.faults, code="parameter_invalid", place="query")
        if parameters.is_csv(request):
            return _csv_answer(request, access, parameters)
        return _page_answer(request, access, parameters)


def _page_answer(request: Request, access: StoreAccess, parameters: ExportParameters) -> HttpResponse:
    filters = parameters.filters
    page = export_page(
        access,
        filters,
        after=parameters.after,
        skip=parameters.skip,
        take=parameters.take or DEFAULT_TAKE,
    )
    if parameters.verbose and page.rows:
        page = fitting_page(page)
        body = dumps(verbose_records(access, page, with_mode=filters.includes_tests))
    else:
        body = f"[{','.join(row.text(with_mode=filters.includes_tests) for row in page.rows)}]".encode()
    response = json_bytes(request, body)
    total = export_count(access, filters)
    if total is not None:
        response["X-Total-Count"] = str(total)
    if page.has_more:
        response["Link"] = parameters.next_link(access.store.external_id, page.rows[-1].cursor)
    return response


def _csv_answer(request: Request, access: StoreAccess, parameters: ExportParameters) -> StreamingHttpResponse:
    filters = parameters.filters
    rows = export_rows(access, filters, after=parameters.after, skip=parameters.skip, take=parameters.take)
    texts = (row.text(with_mode=filters.includes_tests) for row in rows)
    columns = (*EXPORT_COLUMNS, "IsTest") if filters.includes_tests else EXPORT_COLUMNS
    pieces = FILES.stream(csv_chunks(texts, columns=columns), request.auth.key)
    response = StreamingHttpResponse(pieces, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="orders-{access.store.external_id}.csv"'
    response["Cache-Control"] = "no-store"
    return response
