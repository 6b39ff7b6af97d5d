from collections.abc import Iterable

from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiTypes, extend_schema
from rest_framework.request import Request
from rest_framework.settings import api_settings

from fulfillment.core.api.access import Access
from fulfillment.core.api.responses import json_bytes
from fulfillment.core.api.viewsets import ApiViewSet
from fulfillment.core.errors import raise_faults
from fulfillment.core.lanes import FILES, lane_errors
from stores.orders.api.examples import EXPORT_EXAMPLE
from stores.orders.api.export_parameters import DEFAULT_TAKE, PARAMETERS, CSVRenderer, ExportParameters
from stores.orders.api.quotes import NO_ASSOCIATION, NO_STORE
from stores.orders.api.serializers import ExportRowSerializer
from stores.orders.csv_rows import csv_chunks
from stores.orders.representations import EXPORT_COLUMNS, dumps
from stores.orders.selectors.access import READ, StoreAccess, authorize_store
from stores.orders.selectors.export import (
    Page,
    SpanPage,
    authorized_range_page,
    export_count,
    export_page,
    export_rows,
    fitting_page,
    verbose_records,
)
from stores.orders.selectors.export_query import LAST, OrderExportQuery
from stores.orders.selectors.export_with_tests import count_with_tests, page_with_tests, rows_with_tests

ANSWERED = [
    OpenApiParameter(name, kind, OpenApiParameter.HEADER, response=[200], description=text)
    for name, kind, text in (
        ("Link", str, 'The next page, as `<address>; rel="next"`; not on the last one, nor with CSV.'),
        ("X-Total-Count", int, "How many orders match; not with CSV."),
    )
]


class OrderExportViewSet(ApiViewSet):
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
            **lane_errors("exports as CSV"),
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
        is_csv = parameters.is_csv(request)
        if parameters.is_contiguous and not is_csv:
            low, take = min(parameters.after + parameters.skip, LAST), parameters.take or DEFAULT_TAKE
            access = authorized_range_page(request.auth, store_id, low=low, take=take)
            if isinstance(access, SpanPage):
                return _span_answer(request, store_id, parameters, access)
        else:
            access = authorize_store(request.auth, store_id, READ)
        raise_faults(parameters.faults, code="parameter_invalid", place="query")
        if parameters.includes_tests:
            return _answer_with_tests(request, access, parameters, is_csv=is_csv)
        query = parameters.orders_query(access)
        if is_csv:
            rows = export_rows(query, skip=parameters.skip, take=parameters.take) if query else iter(())
            return _csv_answer(FILES.stream(csv_chunks(rows), request.auth.key), store_id)
        return _answer(request, access, parameters, query)


def _span_answer(
    request: Request, store_id: str, parameters: ExportParameters, page: SpanPage
) -> HttpResponse:
    response = json_bytes(request, page.body)
    response.headers["X-Total-Count"] = str(page.newest)
    if page.has_more:
        response.headers["Link"] = parameters.next_link(store_id, b"p%d" % page.last)
    return response


def _answer(
    request: Request, access: StoreAccess, parameters: ExportParameters, query: OrderExportQuery | None
) -> HttpResponse:
    if query is None:
        response = json_bytes(request, b"[]")
        response["X-Total-Count"] = "0"
        return response
    page = export_page(query, skip=parameters.skip, take=parameters.take or DEFAULT_TAKE)
    return _page_answer(request, access, parameters, page, total=export_count(query, page))


def _answer_with_tests(
    request: Request, access: StoreAccess, parameters: ExportParameters, *, is_csv: bool
) -> HttpResponse | StreamingHttpResponse:
    query = parameters.query_with_tests(access)
    following = query.after(parameters.place)
    if is_csv:
        rows = rows_with_tests(following, skip=parameters.skip, take=parameters.take)
        pieces = csv_chunks(rows, columns=(*EXPORT_COLUMNS, "IsTest"))
        return _csv_answer(FILES.stream(pieces, request.auth.key), access.store.external_id)
    page = page_with_tests(following, skip=parameters.skip, take=parameters.take or DEFAULT_TAKE)
    return _page_answer(request, access, parameters, page, total=count_with_tests(query))


def _page_answer(
    request: Request, access: StoreAccess, parameters: ExportParameters, page: Page, *, total: int
) -> HttpResponse:
    if parameters.verbose and page.positions:
        page = fitting_page(access, page)
        records = verbose_records(access, page.positions, with_mode=parameters.includes_tests)
        body = dumps(records)
    else:
        body = f"[{','.join(page.renderings)}]".encode()
    response = json_bytes(request, body)
    response["X-Total-Count"] = str(total)
    if page.has_more:
        response["Link"] = parameters.page_link(access.store.external_id, page)
    return response


def _csv_answer(pieces: Iterable[bytes], store_id: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(pieces, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="orders-{store_id}.csv"'
    response["Cache-Control"] = "no-store"
    return response
