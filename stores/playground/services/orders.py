"""Orders from pages: of the playground, and of the console. The same steps as an order over the API."""

from collections.abc import Mapping
from typing import Any

from fulfillment.core.errors import Forbidden
from stores.orders.models import RECIPIENT_FIELDS, Order
from stores.orders.price_requests import OrderRequest, PriceRequest
from stores.orders.selectors.access import StoreAccess, actor_kind
from stores.orders.services.orders import create_order, discard_order, prepare_order
from stores.orders.services.transitions import Actor


def place_trial_order(
    *,
    access: StoreAccess,
    price_request: PriceRequest,
    recipient: Mapping[str, str],
    template_data: Mapping[str, Any] | None,
) -> Order:
    """The same steps as an order over the API."""
    if not (access.store.is_demo or access.caller.is_test):
        raise Forbidden(
            "Here orders are placed at the demo store, or by a test application. Place real orders with the API."
        )
    sent = {name: recipient.get(name, "") for name in RECIPIENT_FIELDS}
    request = OrderRequest(price_request=price_request, recipient=sent, template_data=[template_data])
    return _placed(access, request)


def place_staff_order(*, access: StoreAccess, request: OrderRequest) -> Order:
    """For staff who may change all orders of the store."""
    if not access.sees_all_orders:
        raise Forbidden("This requires the grant Order.All.Write on the store.", code="grant_missing")
    return _placed(access, request)


def _placed(access: StoreAccess, request: OrderRequest) -> Order:
    prepared = prepare_order(access=access, request=request)
    placed = None
    try:
        placed = create_order(prepared=prepared, actor=Actor(actor_kind(access), access.caller.user_id))
    finally:
        if placed is None:
            discard_order(prepared=prepared)
    return placed.order
