"""What the operations on one order share: their parameters, errors and responses."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.serializers import Serializer

from fulfillment.core.api.access import Access
from fulfillment.core.api.responses import concurrency_errors, matching_tags
from fulfillment.core.api.serializers import validate_data
from stores.catalog.api.stores import NO_STORE, STORE_ID
from stores.concurrency_limits import HANDLING_LONG_ORDERS
from stores.orders.api.quotes import NO_ASSOCIATION
from stores.orders.api.serializers import OrderSerializer
from stores.orders.models import Order, OrderItem
from stores.orders.representations import dumps, order_etag
from stores.orders.selectors.access import WRITE, StoreAccess
from stores.orders.selectors.orders import full_record, order_for, stored_bytes
from stores.orders.services.changes import actor_of
from stores.orders.services.quotes import MANY_ITEMS

ORDER_ID = OpenApiParameter(
    "order_id", str, OpenApiParameter.PATH, description="The OrderID, or `@` and the ExternalID."
)
IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    description="The last ETag you received. The response is 412 if the order has changed since.",
)
ORDERING = Access(
    rule="Every caller with a grant to order may call it. The demo store is open to everyone.",
    permissions=WRITE,
)
NOT_FOUND = "There is no such order for this caller (`order_not_found`)."
STALE = "`If-Match` does not match the current version (`precondition_failed`)."
LONG_ERRORS = concurrency_errors("long orders")
WRITE_ERRORS = {
    400: NO_STORE + ", or the body breaks a rule.",
    403: NO_ASSOCIATION,
    404: NOT_FOUND,
    412: STALE,
    **LONG_ERRORS,
}
# As stored: compressed, they are a hundred times as many at most.
LONG_ORDER_BYTES = 16_384


on_order = partial(extend_schema, parameters=[STORE_ID, ORDER_ID, IF_MATCH], responses={200: OrderSerializer})


def act_on_order(
    request: Request,
    reference: tuple[str, str, tuple[str, ...]],
    serializer: type[Serializer],
    act: Callable[[dict[str, Any], dict[str, Any]], Order],
) -> HttpResponse:
    """Finds the order that `reference` names (StoreID, OrderID, permissions), then checks the body, then acts.

    `act` takes the values of the body, and the members that every service of orders takes.
    """
    access, order = order_for(request.auth, *reference)
    values = validate_data(serializer, request.data)
    target = {"order": order, "actor": actor_of(access), "if_match": matching_tags(request)}
    with slot_if_long(request, order):
        return order_response(act(values, target), access)


def slot_if_long(request: Request, order: Order) -> AbstractContextManager[Any]:
    """A slot to respond with a long order, as after a change: few items may have 10 MB of values, or 20,000 routes."""
    is_long = order.item_count > MANY_ITEMS or stored_bytes(order) > LONG_ORDER_BYTES
    return HANDLING_LONG_ORDERS.slot(request.auth.key) if is_long else nullcontext()


def order_response(
    order: Order,
    access: StoreAccess,
    *,
    status: int = 200,
    items: Sequence[OrderItem] | None = None,
    messages: Sequence[str] = (),
) -> HttpResponse:
    body = dumps(full_record(order, access.store.external_id, items, messages))
    response = HttpResponse(body, status=status, content_type="application/json")
    response["ETag"] = order_etag(order)
    response["Cache-Control"] = "private, no-cache"
    return response
