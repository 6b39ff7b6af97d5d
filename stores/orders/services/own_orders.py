"""Places the orders of people who order on the pages, each form once."""

from django.utils.translation import gettext as _

from accounts.services.idempotency import KeyedRequest, StoredResponse, execute_once, stored_response
from fulfillment.core.errors import Forbidden
from stores.orders.models import Order
from stores.orders.requests import OrderRequest
from stores.orders.selectors.access import StoreAccess
from stores.orders.services.changes import actor_of, lock_orders
from stores.orders.services.orders import prepare_order, writing_order


def place_own_order(*, access: StoreAccess, request: OrderRequest, form: str) -> tuple[Order, bool]:
    """A real order of a person who may order from the store, through no application.

    `form` names the form that was sent: sent again unchanged, as by a second click, it is the same order. Returns the
    order, and whether it is new.
    """
    if access.caller.application_id is not None:
        raise Forbidden(_("Applications place real orders with the API."))
    keyed_request = KeyedRequest(access.caller, f"form {form} {request}", "")
    earlier = stored_response(request=keyed_request)
    response = earlier or _place_once(access, request, keyed_request)
    return Order.objects.select_related("store").get(pk=response.body.decode()), earlier is None


def _place_once(access: StoreAccess, request: OrderRequest, keyed_request: KeyedRequest) -> StoredResponse:
    prepared = prepare_order(access=access, request=request)
    with writing_order(prepared=prepared) as write:

        def respond() -> StoredResponse:
            return StoredResponse(201, {}, str(write(actor_of(access)).pk).encode())

        # A second click waits here until the first one's order is written.
        lock_orders(store_pks=[access.store.pk])
        # Found first: that transaction's locks end one after the other, and its claim may still stand.
        return stored_response(request=keyed_request) or execute_once(request=keyed_request, act=respond)[0]
