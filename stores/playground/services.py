"""Orders from pages, with the steps of an order over the API, and the rate limit of the playground."""

from django.utils.translation import gettext as _

from fulfillment.core.errors import Forbidden
from stores.orders.models import Order
from stores.orders.requests import OrderRequest
from stores.orders.selectors.access import StoreAccess
from stores.orders.services.orders import create_order, discard_order, prepare_order
from stores.orders.services.transitions import actor_of


def place_trial_order(*, access: StoreAccess, request: OrderRequest) -> Order:
    if not (access.store.is_demo or access.caller.is_test):
        raise Forbidden(
            _(
                "Here orders are placed at the demo store, or by a test application. Place real orders with the API."
            )
        )
    return _placed(access, request)


def place_own_order(*, access: StoreAccess, request: OrderRequest) -> Order:
    """A real order of a person who may order from the store, through no application."""
    if access.caller.application_id is not None:
        raise Forbidden(_("Applications place real orders with the API."))
    return _placed(access, request)


def place_staff_order(*, access: StoreAccess, request: OrderRequest) -> Order:
    """For staff who may change all orders of the store."""
    if not access.sees_all_orders:
        raise Forbidden(_("This requires the grant Order.All.Write on the store."), code="grant_missing")
    return _placed(access, request)


def _placed(access: StoreAccess, request: OrderRequest) -> Order:
    prepared = prepare_order(access=access, request=request)
    placed = None
    try:
        placed = create_order(prepared=prepared, actor=actor_of(access))
    finally:
        if placed is None:
            discard_order(prepared=prepared)
    return placed.order
