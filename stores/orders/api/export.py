import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiTypes, extend_schema
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.settings import api_settings

from fulfillment.core.api.access import Access
from fulfillment.core.api.parameters import flag_parameter, moment_parameter, unknown_parameter_faults
from fulfillment.core.api.responses import json_bytes
from fulfillment.core.api.viewsets import ApiViewSet
from fulfillment.core.errors import Fault, Invalid
from fulfillment.core.lanes import FILES, lane_errors
from stores.catalog.api.stores import STORE_ID
from stores.orders.api.examples import EXPORT_EXAMPLE
from stores.orders.api.quotes import NO_ASSOCIATION, NO_STORE
from stores.orders.api.serializers import STATUS_TEXT, ExportRowSerializer
from stores.orders.csv_rows import csv_chunks
from stores.orders.models import OrderStatus
from stores.orders.pricing import raise_faults
from stores.orders.representations import dumps
from stores.orders.selectors.access import READ, StoreAccess, authorize_store
from stores.orders.selectors.export import (
    LAST,
    OrderExportQuery,
    RangePage,
    authorized_range_page,
    export_count,
    export_page,
    export_rows,
    find_export_query,
    fitting_page,
    verbose_records,
)

DEFAULT_TAKE, LARGEST_TAKE = 100, 1000
WHOLE = {"type": "integer"}
PARAMETERS = [
    STORE_ID,
    OpenApiParameter(
        "skip",
        {**WHOLE, "minimum": 0, "maximum": 2**31 - 1, "default": 0},
        description="How many to leave out from the start.",
    ),
    OpenApiParameter(
        "take",
        {**WHOLE, "minimum": 1, "maximum": LARGEST_TAKE, "default": DEFAULT_TAKE},
        description="For CSV there is no default: without it, all.",
    ),
    OpenApiParameter(
        "status",
        {"type": "array", "items": {**WHOLE, "enum": OrderStatus.values}},
        explode=True,
        description=STATUS_TEXT,
    ),
    OpenApiParameter("createdAfter", OpenApiTypes.DATETIME, description="At this moment or later."),
    OpenApiParameter("createdBefore", OpenApiTypes.DATETIME, description="Before this moment."),
    OpenApiParameter(
        "verbose",
        bool,
        default=False,
        description="Adds Items, Shipments, History and the whole Recipient; a page may end before `take`.",
    ),
    OpenApiParameter("productID", str, description="Orders that hold this product."),
    OpenApiParameter("orderNumber", str),
    OpenApiParameter("externalID", str, description="Orders with this ExternalID."),
    OpenApiParameter(
        "updatedAfter",
        OpenApiTypes.DATETIME,
        description="Changed at this moment or later. To walk along changes as they come, read events.",
    ),
    OpenApiParameter("after", str, description="Where the last page ended; taken from the `Link` header."),
    OpenApiParameter("format", str, enum=["csv", "json"], description="Instead of an `Accept` header."),
]
ALLOWED = [each.name for each in PARAMETERS if each.location == OpenApiParameter.QUERY]
RESPONSE_HEADERS = [
    OpenApiParameter(name, kind, OpenApiParameter.HEADER, response=[200], description=text)
    for name, kind, text in (
        ("Link", str, 'The next page, as `<address>; rel="next"`; not on the last one, nor with CSV.'),
        ("X-Total-Count", int, "How many orders match; not with CSV."),
    )
]
STATUSES = frozenset(str(value) for value in OrderStatus.values)
RANGE_PARAMETERS = frozenset({"skip", "take", "after", "format"})
UNKNOWN_SHOWN = 20


class CSVRenderer(BaseRenderer):
    """Declares the media type for content negotiation; the view streams the rows."""

    media_type = "text/csv"
    format = "csv"
    charset = "utf-8"

    def render(self, data: Any, *context: Any, **more: Any) -> bytes:
        return b""


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
        parameters=[*PARAMETERS, *RESPONSE_HEADERS],
        responses={
            (200, "application/json"): ExportRowSerializer(many=True),
            (200, "text/csv"): OpenApiTypes.STR,
        },
        examples=[EXPORT_EXAMPLE],
    )
    def list(self, request: Request, store_id: str) -> HttpResponse | StreamingHttpResponse:
        parameters = _Parameters(request)
        is_csv = parameters.is_csv(request)
        if parameters.is_contiguous and not is_csv:
            low, take = min(parameters.after + parameters.skip, LAST), parameters.take or DEFAULT_TAKE
            access, page = authorized_range_page(request.auth, store_id, low=low, take=take)
            if page:
                return _range_response(request, access, parameters, page)
        else:
            access = authorize_store(request.auth, store_id, READ)
        raise_faults(parameters.faults, code="parameter_invalid", place="query")
        query = parameters.export_query(access)
        if is_csv:
            rows = export_rows(query, skip=parameters.skip, take=parameters.take) if query else iter(())
            return _csv_response(FILES.stream(csv_chunks(rows), request.auth.key), store_id)
        return _page_response(request, access, parameters, query)


class _Parameters:
    """The parsed query string; `faults` holds one fault for each invalid parameter."""

    skip = after = 0
    take: int | None = None
    verbose = False
    statuses: Sequence[int] = ()
    created_after: datetime | None = None
    created_before: datetime | None = None
    updated_after: datetime | None = None

    def __init__(self, request: Request) -> None:
        self.query = request.query_params
        self.faults: list[Fault] = []
        if self.query:
            self._read()

    def _read(self) -> None:
        self.faults += unknown_parameter_faults(self.query, ALLOWED)[:UNKNOWN_SHOWN]
        if self.query.get("format", "json") not in {"csv", "json"}:
            self._refuse("format", f"write csv or json; found {self.query['format'][:40]!r}.")
        self.skip = self._whole("skip", 0, LAST) or 0
        self.take = self._whole("take", 1, LARGEST_TAKE)
        self.verbose = self._flag("verbose")
        self.statuses = self._statuses()
        self.created_after, self.created_before = self._moment("createdAfter"), self._moment("createdBefore")
        self.updated_after = self._moment("updatedAfter")
        self.after = self._cursor()

    @property
    def is_contiguous(self) -> bool:
        """Whether the query selects a range of all orders, without any filter."""
        return not self.faults and self.query.keys() <= RANGE_PARAMETERS

    def is_csv(self, request: Request) -> bool:
        accepted: BaseRenderer = request.accepted_renderer
        return bool(self.query.get("format", accepted.format) == CSVRenderer.format)

    def export_query(self, access: StoreAccess) -> OrderExportQuery | None:
        query = find_export_query(
            access,
            statuses=self.statuses,
            product_id=self.query.get("productID"),
            order_number=self.query.get("orderNumber"),
            created_after=self.created_after,
            created_before=self.created_before,
            external_id=self.query.get("externalID"),
            updated_after=self.updated_after,
        )
        return query and query.after(self.after)

    def next_link(self, store_id: str, position: int) -> str:
        kept = [(name, value) for name, value in self.pairs() if name not in {"skip", "after"}]
        cursor = base64.urlsafe_b64encode(b"p%d" % position).decode().rstrip("=")
        query = f"{urlencode(kept)}&after={cursor}" if kept else f"after={cursor}"
        return f'<{settings.API_URL}/store/{store_id}/order/exportview?{query}>; rel="next"'

    def pairs(self) -> Iterator[tuple[str, str]]:
        for name, values in self.query.lists():
            yield from ((name, value) for value in values)

    def _refuse(self, name: str, message: str) -> None:
        self.faults.append(Fault(f"?{name}", "parameter_invalid", f"{name}: {message}"))

    def _flag(self, name: str) -> bool:
        try:
            return flag_parameter(self.query, name)
        except Invalid as error:
            self.faults += error.faults
            return False

    def _whole(self, name: str, least: int, most: int) -> int | None:
        text = self.query.get(name)
        if text is None:
            return None
        if not (text.isascii() and text.isdigit() and len(text) < 12 and least <= int(text) <= most):
            self._refuse(name, f"write a whole number from {least} to {most}; found {text[:40]!r}.")
            return None
        return int(text)

    def _statuses(self) -> list[int]:
        texts = self.query.getlist("status")
        for text in texts:
            if text not in STATUSES:
                self._refuse("status", f"{text[:40]!r} is not one of {STATUS_TEXT}.")
        return [int(text) for text in texts if text in STATUSES]

    def _moment(self, name: str) -> datetime | None:
        try:
            return moment_parameter(self.query, name)
        except Invalid as error:
            self.faults += error.faults
            return None

    def _cursor(self) -> int:
        text = self.query.get("after")
        if text is None:
            return 0
        try:
            plain = base64.urlsafe_b64decode(text.encode("ascii") + b"==").decode("ascii")
            if not re.fullmatch(r"p[0-9]{1,10}", plain):
                raise ValueError(plain)
            return int(plain[1:])
        except (ValueError, binascii.Error):
            self._refuse("after", "take it from the Link header of the page before.")
            return 0


def _range_response(
    request: Request, access: StoreAccess, parameters: _Parameters, page: RangePage
) -> HttpResponse:
    response = json_bytes(request, page.body)
    response.headers["X-Total-Count"] = str(page.newest)
    if page.has_more:
        response.headers["Link"] = parameters.next_link(access.store.external_id, page.last)
    return response


def _page_response(
    request: Request, access: StoreAccess, parameters: _Parameters, query: OrderExportQuery | None
) -> HttpResponse:
    if query is None:
        response = json_bytes(request, b"[]")
        response["X-Total-Count"] = "0"
        return response
    page = export_page(query, skip=parameters.skip, take=parameters.take or DEFAULT_TAKE)
    if parameters.verbose:
        page = fitting_page(access, page)
        body = dumps(verbose_records(access, page.positions))
    else:
        body = f"[{','.join(page.renderings)}]".encode()
    response = json_bytes(request, body)
    response["X-Total-Count"] = str(export_count(query, page))
    if page.has_more:
        response["Link"] = parameters.next_link(access.store.external_id, page.positions[-1])
    return response


def _csv_response(pieces: Iterable[bytes], store_id: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(pieces, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="orders-{store_id}.csv"'
    response["Cache-Control"] = "no-store"
    return response
