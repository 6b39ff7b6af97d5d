"""Orders from pages, with the steps of an order over the API, and the rate limit of the playground."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts.callers import Caller
from applications.registration.services.request_log import is_enabled, note_request
from applications.registration.services.usage import count_call
from fulfillment.core.api.errors import domain_problem
from fulfillment.core.errors import DomainError, Forbidden
from fulfillment.core.observability.logs import current_trace, trace_of
from fulfillment.core.reference.operations import operations, raw_operation
from stores.catalog.models import Store
from stores.catalog.services.usage import count_store_call
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


@contextmanager
def recorded_call(request: HttpRequest, caller: Caller, store: Store, operation_id: str) -> Iterator[None]:
    """Records the operation with the status that its API call would have."""
    started, problem = time.perf_counter(), None
    status = _success(operation_id)
    try:
        yield
    except DomainError as error:
        response = domain_problem(error)
        status, problem = response.status_code, response.content
        raise
    finally:
        if not caller.is_test:
            count_store_call(store_id=store.external_id, status=status)
        if caller.application_id is not None:
            count_call(application_id=caller.application_id, status=status, on_page=True)
            if is_enabled():
                note_request(
                    application_id=caller.application_id,
                    user_id=caller.user_id,
                    method=operations()[operation_id].method,
                    route=operations()[operation_id].path.removeprefix("/"),
                    status=status,
                    seconds=time.perf_counter() - started,
                    request_id=(current_trace.get() or trace_of(request)).trace_id,
                    sent=request.META,
                    answered={"Content-Type": "application/json"},
                    problem=problem,
                )


def _success(operation_id: str) -> int:
    responses = (raw_operation(operation_id) or {}).get("responses", {})
    return next((int(status) for status in responses if status.startswith("2")), 200)
