"""Places orders: checks and prices them, stores their print files, then writes everything in one transaction."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.callers import Caller
from delivery.selection.services.selections import retain_for_order
from fulfillment.core.db.prepared import fetch_rows
from fulfillment.core.errors import Conflict, Forbidden
from fulfillment.core.text import JsonObject
from fulfillment.core.uuid7 import new_uuid7
from stores.budgets.services.claims import BudgetOutcome, count_in_budgets, count_reserved_order
from stores.orders.models import TEST_OUTCOME, Order, OrderItem, OrderStatus, Quote, TestOutcome
from stores.orders.models.status import EVENT_TYPES
from stores.orders.pricing import Option
from stores.orders.representations import render_export_row
from stores.orders.requests import ListedProduct, OrderRequest
from stores.orders.selectors.access import StoreAccess
from stores.orders.selectors.orders import is_own_order, order_with_external_id
from stores.orders.selectors.selections import resolve_selections
from stores.orders.services.approvals import request_approval
from stores.orders.services.changes import (
    Actor,
    actor_of,
    append_history,
    lock_orders,
    notify_apps_of_status,
    record_order_event,
)
from stores.orders.services.order_prints import store_order_prints
from stores.orders.services.print_files import StoredPrint, delete_print_files, record_ordered_assets
from stores.orders.services.quotes import slot_if_many_items
from stores.orders.services.scenarios import start_scenario
from stores.orders.services.tallies import count_new_order
from stores.orders.services.validation import validate_order

# Run under the lock of the store, so that `created` rises with each commit. Each mode is found by its own index.
NEXT_NUMBER = """
SELECT nextval('stores_order_number'),
       greatest(coalesce(%(placed)s::timestamptz, clock_timestamp()),
                (SELECT created FROM stores_order WHERE store_id = %(store)s AND {mode}
                 ORDER BY created DESC LIMIT 1) + interval '1 microsecond')
"""
NEXT_NUMBERS = {False: NEXT_NUMBER.format(mode="NOT is_test"), True: NEXT_NUMBER.format(mode="is_test")}


@dataclass(frozen=True, slots=True)
class PreparedOrder:
    """Everything an order needs but its place in the store: nothing slow is left to do.

    Its print files are stored: it is written by `create_order`, or given up by `discard_order`.
    """

    order_id: UUID
    access: StoreAccess
    request: OrderRequest
    products: Mapping[str, ListedProduct]
    option: Option
    quote: Quote | None
    reprint_of: Order | None
    stored_selections: Sequence[JsonObject | None]
    print_files: Sequence[StoredPrint | None]


@dataclass(frozen=True, slots=True)
class CreatedOrder:
    order: Order
    items: Sequence[OrderItem]
    messages: Sequence[str]


def prepare_order(
    *, access: StoreAccess, request: OrderRequest, seconds: float | None = None
) -> PreparedOrder:
    """Checks and prices the whole order and stores its print files, outside of any transaction.

    `seconds` is for work outside of a request, which may take longer.
    """
    _refuse_duplicate(access, request)
    price_request = resolve_selections(
        access.caller, request.price_request, includes_expired=request.quote_id is not None
    )
    request = replace(request, price_request=price_request)
    with slot_if_many_items(access.caller, price_request, quote_id=request.quote_id):
        validated = validate_order(access=access, request=request)
        order_id = new_uuid7()
        files = store_order_prints(
            access=access,
            request=request,
            products=validated.products,
            order_id=order_id,
            seconds=seconds,
        )
    return PreparedOrder(
        order_id=order_id, access=access, request=request, print_files=files, **validated._asdict()
    )


def discard_order(*, prepared: PreparedOrder) -> None:
    """Deletes the print files of an order that was not written; call it outside of transactions."""
    delete_print_files(files=prepared.print_files)


@contextmanager
def writing_order(*, prepared: PreparedOrder) -> Iterator[Callable[[Actor], Order]]:
    """A transaction that writes the order by what it yields; discards the order unless it was written.

    After that only the commit can fail, and then its outcome is unknown.
    """
    written: list[Order] = []

    def write(actor: Actor) -> Order:
        written.append(create_order(prepared=prepared, actor=actor).order)
        return written[0]

    try:
        with transaction.atomic():
            yield write
    finally:
        if not written:
            discard_order(prepared=prepared)


@transaction.atomic(savepoint=False)
def create_order(
    *, prepared: PreparedOrder, actor: Actor, reservation_id: UUID | None = None
) -> CreatedOrder:
    """Writes the order with its items, history, tally and event, or nothing at all.

    With `reservation_id` it is one of a batch whose budgets and approval were settled for all of its orders.
    """
    store = prepared.access.store
    lock_orders(store_pks=[store.pk])
    _refuse_duplicate(prepared.access, prepared.request)
    values = {"store": store.pk, "placed": prepared.request.placed}
    [(number, created)] = fetch_rows(NEXT_NUMBERS[prepared.access.caller.is_test], values)
    order = _make_order(prepared, number, created)
    order.rendering = render_export_row(order, store.external_id)
    items = _make_items(prepared, order)
    order.save(force_insert=True)
    OrderItem.objects.bulk_create(items)
    printed = {pk for file in prepared.print_files if file for pk in file.asset_ids}
    record_ordered_assets(order_id=order.pk, asset_ids=printed)
    # In one order, for another order may name the same ones.
    for selection_id in sorted({stored["SelectionID"] for stored in prepared.stored_selections if stored}):
        retain_for_order(selection_id=UUID(selection_id))
    count_new_order(order)
    start_scenario(order=order)
    append_history(order, previous_status=None, actor=actor)
    record_order_event(order, EVENT_TYPES[OrderStatus.RECEIVED], previous_status=None)
    notify_apps_of_status(order)
    # The last steps: budgets stay locked until the commit.
    outcome = _settle_order(order, prepared.access.caller, reservation_id)
    return CreatedOrder(order, items, [*_list_messages(prepared), *outcome.messages])


def place_test_order(*, access: StoreAccess, request: OrderRequest) -> Order:
    """Places an order at the demo store, or by a test application: nothing is produced or paid."""
    if not (access.store.is_demo or access.caller.is_test):
        raise Forbidden(
            _(
                "Here orders are placed at the demo store, or by a test application. Place real orders with the API."
            )
        )
    return _place_order(access, request)


def place_staff_order(*, access: StoreAccess, request: OrderRequest) -> Order:
    """Places an order for staff who may change all orders of the store."""
    if not access.sees_all_orders:
        raise Forbidden(_("This requires the grant Order.All.Write on the store."), code="grant_missing")
    return _place_order(access, request)


def _place_order(access: StoreAccess, request: OrderRequest) -> Order:
    prepared = prepare_order(access=access, request=request)
    with writing_order(prepared=prepared) as write:
        return write(actor_of(access))


def _settle_order(order: Order, caller: Caller, reservation_id: UUID | None) -> BudgetOutcome:
    if reservation_id is not None:
        count_reserved_order(order=order, caller=caller, reservation_id=reservation_id)
        return BudgetOutcome()
    outcome = count_in_budgets(order=order, caller=caller)
    request_approval(order=order, budget_reasons=outcome.reasons)
    return outcome


def _refuse_duplicate(access: StoreAccess, request: OrderRequest) -> None:
    if request.external_id is None:
        return
    existing = order_with_external_id(access, request.external_id)
    if existing is None:
        return
    message = f"There is already an order with the ExternalID {request.external_id!r}."
    if is_own_order(access.caller, existing):
        raise Conflict(message, code="external_id_exists", members={"OrderID": str(existing.pk)})
    message += " Another user of this application placed it."
    raise Conflict(message, code="external_id_exists")


def _list_messages(prepared: PreparedOrder) -> list[str]:
    """The warnings of each item, as a proof of the same data would report them."""
    return [
        f"Item {line.item_key}: {message}"
        for line, file in zip(prepared.option.lines, prepared.print_files, strict=True)
        if file is not None
        for message in file.messages
    ]


def _make_order(prepared: PreparedOrder, number: int, created: datetime) -> Order:
    access, request, option = prepared.access, prepared.request, prepared.option
    return Order(
        id=prepared.order_id,
        number=number,
        store=access.store,
        application_id=access.caller.application_id,
        user_id=access.caller.user_id,
        is_test=access.caller.is_test,
        external_id=request.external_id,
        external_id_user=access.caller.user_id if access.caller.is_first_party else None,
        status=OrderStatus.RECEIVED,
        created=created,
        updated=created,
        currency=access.store.currency,
        items_total=option.items_total,
        delivery_total=option.delivery_total,
        total=option.total,
        delivery_method_code=option.delivery_method_code,
        production_days=option.production_days,
        earliest_delivery=option.earliest,
        latest_delivery=option.latest,
        quote=prepared.quote,
        option_id=option.option_id if prepared.quote else "",
        recipient=_make_recipient(prepared),
        product_ids=list(dict.fromkeys(line.product_id for line in option.lines)),
        item_count=len(option.lines),
        total_quantity=sum(line.quantity for line in option.lines),
        metadata=dict(request.metadata or {}),
        reprint_of=prepared.reprint_of,
        cancellable_until=created + _hold_window(prepared),
    )


def _hold_window(prepared: PreparedOrder) -> timedelta:
    """How long the order can be cancelled: not at all, if it is a test of a cancellation that is refused."""
    if prepared.access.caller.is_test:
        outcome = (prepared.request.metadata or {}).get(TEST_OUTCOME)
        if outcome == TestOutcome.CANCEL_REFUSED:
            return timedelta()
    return timedelta(minutes=prepared.access.store.hold_window_minutes)


def _make_recipient(prepared: PreparedOrder) -> dict[str, str]:
    """The recipient, with the location type of the quote if the order does not name one."""
    recipient, quote = dict(prepared.request.recipient), prepared.quote
    if quote is not None and quote.location_type:
        recipient.setdefault("LocationType", quote.location_type)
    return recipient


def _make_items(prepared: PreparedOrder, order: Order) -> list[OrderItem]:
    items = []
    labels = prepared.request.labels
    requested = prepared.request.price_request.items
    for position, line in enumerate(prepared.option.lines):
        product = prepared.products[line.product_id]
        file = prepared.print_files[position]
        items.append(
            OrderItem(
                order=order,
                position=position,
                item_key=line.item_key,
                label=labels[position] if labels else "",
                product_id=product.pk,
                product_external_id=line.product_id,
                product_name=product.name,
                product_version=product.version,
                quantity=line.quantity,
                unit_price=line.unit_price,
                line_total=line.total,
                template_data=prepared.request.template_data[position],
                artwork=artwork.record() if (artwork := requested[position].artwork) else None,
                print_file=file.name if file else "",
                print_sha256=file.sha256 if file else "",
                print_bytes=file.size if file else 0,
                print_preset=file.preset if file else None,
                options=file.options if file else {},
                finishing=(file.finishing if file else None) or product.finishing,
                preflight=list(file.preflight) or None if file else None,
                eddm=prepared.stored_selections[position],
            )
        )
    return items
