"""The export view: its query parameters, and its pages as JSON and CSV."""

import base64
import binascii
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiTypes, extend_schema
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.settings import api_settings

from fulfillment.core.api.access import Access
from fulfillment.core.api.parameters import (
    next_page,
    parse_flag,
    parse_timestamp,
    parse_whole_number,
    unknown_parameter_faults,
)
from fulfillment.core.api.responses import CSVRenderer, concurrency_errors, json_bytes
from fulfillment.core.api.viewsets import ApiViewSet
from fulfillment.core.concurrency_limits import slot_if
from fulfillment.core.errors import Fault, Invalid, raise_faults
from fulfillment.core.files.downloads import streamed_file
from fulfillment.core.text import parse_number
from stores.catalog.api.stores import NO_STORE, STORE_ID
from stores.orders.api.examples import EXPORT_EXAMPLE
from stores.orders.api.quotes import NO_ASSOCIATION
from stores.orders.api.serializers import STATUS_TEXT, ExportRowSerializer
from stores.orders.models import OrderStatus
from stores.orders.representations import EXPORT_COLUMNS, csv_chunks, dumps
from stores.orders.selectors.access import READ, StoreAccess, authorize_store
from stores.orders.selectors.export import (
    MAX_COUNTED,
    MAX_SKIP,
    ExportCursor,
    ExportFilters,
    export_count,
    export_page,
    export_rows,
    fitting_page,
    verbose_records,
)

Value = TypeVar("Value")
DEFAULT_TAKE, MAX_TAKE = 100, 1000
WHOLE = {"type": "integer"}
PARAMETERS = [
    STORE_ID,
    OpenApiParameter(
        "skip",
        {**WHOLE, "minimum": 0, "maximum": MAX_SKIP, "default": 0},
        description="How many orders to skip. To skip more, follow `Link`.",
    ),
    OpenApiParameter(
        "take",
        {**WHOLE, "minimum": 1, "maximum": MAX_TAKE, "default": DEFAULT_TAKE},
        description="CSV has no default: it returns all orders.",
    ),
    OpenApiParameter(
        "status",
        {"type": "array", "items": {**WHOLE, "enum": OrderStatus.values}},
        explode=True,
        description=STATUS_TEXT,
    ),
    OpenApiParameter("createdAfter", OpenApiTypes.DATETIME, description="At or after this time."),
    OpenApiParameter("createdBefore", OpenApiTypes.DATETIME, description="Before this time."),
    OpenApiParameter(
        "verbose",
        bool,
        default=False,
        description=(
            "Adds Items, Shipments, History and the whole Recipient. A page may have fewer orders than "
            "`take`."
        ),
    ),
    OpenApiParameter("productID", str, description="Only orders that contain this product."),
    OpenApiParameter("orderNumber", str),
    OpenApiParameter("externalID", str, description="Only orders with this ExternalID."),
    OpenApiParameter(
        "updatedAfter",
        OpenApiTypes.DATETIME,
        description=(
            "Only orders changed at or after this time. To follow changes as they happen, read events."
        ),
    ),
    OpenApiParameter(
        "includeTest",
        bool,
        default=False,
        description=(
            "Adds test orders, and `IsTest` to each order. A test application gets its own test orders; "
            "this service's own applications get those of the store."
        ),
    ),
    OpenApiParameter("after", str, description="The position after the last page, from its `Link` header."),
    OpenApiParameter("format", str, enum=["csv", "json"], description="Instead of an `Accept` header."),
]
ALLOWED = [parameter.name for parameter in PARAMETERS if parameter.location == OpenApiParameter.QUERY]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
STATUSES = frozenset(str(value) for value in OrderStatus.values)
UNKNOWN_SHOWN = 20
ANSWERED = [
    OpenApiParameter(name, kind, OpenApiParameter.HEADER, response=[200], description=text)
    for name, kind, text in (
        ("Link", str, 'The next page, as `<URL>; rel="next"`. Not sent on the last page or with CSV.'),
        (
            "X-Total-Count",
            int,
            f"The number of matching orders. Not sent with CSV, or if filters match more than {MAX_COUNTED:,}.",
        ),
    )
]


class ExportParameters:
    """The parsed parameters; `faults` names every invalid one."""

    skip = 0
    take: int | None = None
    verbose = False
    after: ExportCursor | None = None
    filters = ExportFilters()

    def __init__(self, request: Request) -> None:
        self.query = request.query_params
        self.faults: list[Fault] = []
        if self.query:
            self._read()

    def _read(self) -> None:
        self.faults += unknown_parameter_faults(self.query, ALLOWED)[:UNKNOWN_SHOWN]
        if self.query.get("format", "json") not in {"csv", "json"}:
            self._refuse("format", f"write csv or json; found {self.query['format'][:40]!r}.")
        self.skip = self._skip()
        self.take = self._parse_parameter(parse_whole_number, "take", default=0, most=MAX_TAKE) or None
        self.verbose = bool(self._parse_parameter(parse_flag, "verbose"))
        self.after = self._cursor()
        self.filters = ExportFilters(
            statuses=self._statuses(),
            product_id=self.query.get("productID"),
            order_number=self.query.get("orderNumber"),
            external_id=self.query.get("externalID"),
            created_after=self._parse_parameter(parse_timestamp, "createdAfter"),
            created_before=self._parse_parameter(parse_timestamp, "createdBefore"),
            updated_after=self._parse_parameter(parse_timestamp, "updatedAfter"),
            includes_tests=bool(self._parse_parameter(parse_flag, "includeTest")),
        )

    def is_csv(self, request: Request) -> bool:
        accepted: BaseRenderer = request.accepted_renderer
        return bool(self.query.get("format", accepted.format) == CSVRenderer.format)

    def next_link(self, store_id: str, last: ExportCursor) -> str:
        """The URL of the page after the order `last`."""
        moment = (last.created - EPOCH) // timedelta(microseconds=1)
        cursor = base64.urlsafe_b64encode(b"%d." % moment + last.order_id.bytes).decode().rstrip("=")
        lists = self.query.lists()
        pairs = ((name, value) for name, values in lists if name != "skip" for value in values)
        return next_page(f"/store/{store_id}/order/exportview", pairs, cursor)["Link"]

    def _refuse(self, name: str, message: str) -> None:
        self.faults.append(Fault(f"?{name}", "parameter_invalid", f"{name}: {message}"))

    def _parse_parameter(self, parse: Callable[..., Value], name: str, **limits: int) -> Value | None:
        """The value, None if it is refused; then `faults` names it."""
        try:
            return parse(self.query, name, **limits)
        except Invalid as error:
            self.faults += error.faults
            return None

    def _skip(self) -> int:
        text = self.query.get("skip", "")
        if (parse_number(text) or 0) > MAX_SKIP:
            self._refuse("skip", f'at most {MAX_SKIP:,}; for more, follow rel="next" of the header Link.')
            return 0
        return self._parse_parameter(parse_whole_number, "skip", default=0, least=0, most=MAX_SKIP) or 0

    def _statuses(self) -> list[int]:
        texts = self.query.getlist("status")
        for text in texts:
            if text not in STATUSES:
                self._refuse("status", f"{text[:40]!r} is not one of {STATUS_TEXT}.")
        return [int(text) for text in texts if text in STATUSES]

    def _cursor(self) -> ExportCursor | None:
        text = self.query.get("after")
        if text is None:
            return None
        try:
            plain = base64.urlsafe_b64decode(text.encode("ascii") + b"==")
            match = re.fullmatch(rb"([0-9]{1,16})\.(.{16})", plain, re.DOTALL)
        except (ValueError, binascii.Error):
            match = None
        if match is None:
            self._refuse("after", "take it from the Link header of the page before.")
            return None
        return ExportCursor(EPOCH + timedelta(microseconds=int(match[1])), UUID(bytes=match[2]))


class OrderExportViewSet(ApiViewSet):
    tag = "Orders"
    reads_own_query = True
    renderer_classes = [*api_settings.DEFAULT_RENDERER_CLASSES, CSVRenderer]
    access = {
        "list": Access(
            rule=(
                "Callers list their own orders. With `Order.All.Read`, they list every order of the store. The "
                "demo store is open to everyone."
            ),
            permissions=READ,
            subscription_key_required=False,
        )
    }
    errors = {
        "list": {
            400: f"{NO_STORE}, or a parameter is invalid (`parameter_invalid`).",
            403: NO_ASSOCIATION,
            404: "Nothing exists at this URL.",
            **concurrency_errors("exports as CSV or large verbose pages"),
        }
    }

    @extend_schema(
        operation_id="order_exportview",
        summary="Export the orders of a store",
        description=(
            'Returns orders, oldest first. Follow `Link: rel="next"` to page through any number of '
            "orders: every page takes the same time, and orders that arrive meanwhile are neither missed "
            "nor repeated. `X-Total-Count` is the number of matching orders. `Accept: text/csv` streams "
            "the same columns."
        ),
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
        raise_faults(parameters.faults, code="parameter_invalid", part="query")
        if parameters.is_csv(request):
            return _csv_response(request, access, parameters)
        return _page_response(request, access, parameters)


def _page_response(request: Request, access: StoreAccess, parameters: ExportParameters) -> HttpResponse:
    filters = parameters.filters
    page = export_page(
        access,
        filters,
        after=parameters.after,
        skip=parameters.skip,
        take=parameters.take or DEFAULT_TAKE,
    )
    if parameters.verbose and page.rows:
        page, is_large = fitting_page(page)
        with slot_if(is_large, access.caller.key):
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


def _csv_response(
    request: Request, access: StoreAccess, parameters: ExportParameters
) -> StreamingHttpResponse:
    filters = parameters.filters
    rows = export_rows(access, filters, after=parameters.after, skip=parameters.skip, take=parameters.take)
    texts = (row.text(with_mode=filters.includes_tests) for row in rows)
    columns = (*EXPORT_COLUMNS, "IsTest") if filters.includes_tests else EXPORT_COLUMNS
    pieces = csv_chunks(texts, columns=columns)
    return streamed_file(pieces, f"orders-{access.store.external_id}.csv", request.auth.key)
