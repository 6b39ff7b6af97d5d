"""Orders from the playground: only at the demo store, where nothing is produced."""

from collections.abc import Mapping
from typing import Any

from fulfillment.core.errors import Forbidden
from stores.orders.models import RECIPIENT_FIELDS, Order
from stores.orders.pricing import PriceRequest
from stores.orders.selectors.access import StoreAccess, actor_kind
from stores.orders.services.orders import create_order, discard_order, prepare_order
from stores.orders.services.transitions import Actor
from stores.orders.services.validation import OrderRequest


def place_demo_order(
    *,
    access: StoreAccess,
    price_request: PriceRequest,
    recipient: Mapping[str, str],
    template_data: Mapping[str, Any] | None,
) -> Order:
    """The same steps as an order over the API."""
    if not access.store.is_demo:
        raise Forbidden("Orders are placed here at the demo store only; send real ones with the API.")
    sent = {name: recipient.get(name, "") for name in RECIPIENT_FIELDS}
    request = OrderRequest(price_request=price_request, recipient=sent, template_data=[template_data])
    prepared = prepare_order(access=access, request=request)
    placed = None
    try:
        placed = create_order(prepared=prepared, actor=Actor(actor_kind(access), access.caller.user_id))
    finally:
        if placed is None:
            discard_order(prepared=prepared)
    return placed.order
