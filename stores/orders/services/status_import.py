"""Statuses reported in a table: by a carrier, or by a store's own system."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from django.db import transaction

from fulfillment.core.errors import DomainError, PreconditionFailed
from stores.orders.models import ActorKind, Order, OrderStatus, Shipment
from stores.orders.models.status import ALLOWED_TRANSITIONS, WITH_SHIPMENTS
from stores.orders.representations import order_etag
from stores.orders.services.locks import lock_orders
from stores.orders.services.reported_statuses import ReportedStatus
from stores.orders.services.transitions import Actor, Parcel, _check_move, move_order

NAMES = {status.label.lower(): status.value for status in OrderStatus}
ENDED = {OrderStatus.CANCELLED, OrderStatus.REJECTED}
SYSTEM = Actor(ActorKind.SYSTEM)
BATCH = 500
TRIES = 5


class Outcome(StrEnum):
    MOVED = "moved"
    ADDED = "parcel added"
    WOULD_MOVE = "would move"
    WOULD_ADD = "would add its parcel"
    SAME = "same"
    LATE = "late"
    REFUSED = "refused"


UNDONE = {Outcome.MOVED: Outcome.WOULD_MOVE, Outcome.ADDED: Outcome.WOULD_ADD}


@dataclass(frozen=True, slots=True)
class LineResult:
    line: int
    outcome: Outcome
    text: str


@dataclass(slots=True)
class _Known:
    """An order as it was last seen, and the parcels it has."""

    order: Order
    parcels: set[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Move:
    """What a line that says something new asks of its order."""

    line: ReportedStatus
    known: _Known
    status: int
    parcels: Sequence[Parcel]

    def result(self, outcome: Outcome, previous: int) -> LineResult:
        number = self.known.order.number
        if self.status == previous:
            return LineResult(self.line.line, outcome, f"{number} is {_name(previous)} already")
        return LineResult(self.line.line, outcome, f"{number}: {_name(previous)} to {_name(self.status)}")


class _Undone(Exception):
    pass


def import_order_statuses(
    *, reported: Iterable[ReportedStatus], all_or_nothing: bool
) -> Iterator[LineResult]:
    """Moves the orders line by line, and says so as it does; the file is read whole before.

    With `all_or_nothing` one refusal takes back every line. Orders are judged without the lock of their store:
    it is held while something is written, and lines that say nothing new write nothing.
    """
    lines = list(reported)
    return iter(_import_whole(lines)) if all_or_nothing else _import_singly(lines)


def _import_singly(lines: Sequence[ReportedStatus]) -> Iterator[LineResult]:
    for start in range(0, len(lines), BATCH):
        batch = lines[start : start + BATCH]
        orders = _orders_of(batch)
        yield from (_settle(line, orders) for line in batch)


def _import_whole(lines: Sequence[ReportedStatus]) -> list[LineResult]:
    orders = _orders_of(lines)
    foreseen = [_foresee(line, orders) for line in lines]
    if any(result.outcome == Outcome.REFUSED for result in foreseen):
        return foreseen
    results = foreseen
    try:
        with transaction.atomic():
            news = [
                line
                for line, result in zip(lines, foreseen, strict=True)
                if result.outcome in UNDONE.values()
            ]
            lock_orders(store_pks={orders[int(line.number)].order.store_id for line in news})
            orders, newly = _orders_of(news), {line.line for line in news}
            results = [
                _settle(line, orders) if line.line in newly else result
                for line, result in zip(lines, foreseen, strict=True)
            ]
            if any(result.outcome == Outcome.REFUSED for result in results):
                raise _Undone
    except _Undone:
        return [replace(result, outcome=UNDONE.get(result.outcome, result.outcome)) for result in results]
    return results


def _orders_of(lines: Sequence[ReportedStatus]) -> dict[int, _Known]:
    numbers = {int(line.number) for line in lines if _is_number(line.number)}
    orders = Order.objects.filter(number__in=numbers).only(
        "number", "status", "sequence", "cancellation", "store"
    )
    known = {order.pk: _Known(order, set()) for order in orders}
    parcels = Shipment.objects.filter(order__in=known).values_list("order", "carrier", "tracking_number")
    for order, carrier, tracking in parcels:
        known[order].parcels.add((carrier, tracking))
    return {each.order.number: each for each in known.values()}


def _judge(line: ReportedStatus, orders: Mapping[int, _Known]) -> LineResult | _Move:
    """What is to be done for a line, or its result where nothing is."""
    known = orders.get(int(line.number)) if _is_number(line.number) else None
    if line.fault:
        return _refused(line, line.fault)
    if known is None:
        return _refused(line, f"there is no order {line.number[:40] or 'without a number'}")
    code = _code_of(line.status)
    if code is None:
        return _refused(line, f"{line.status[:40] or 'nothing'} is not a status")
    if bool(line.carrier) != bool(line.tracking):
        return _refused(line, "a parcel needs its carrier and its tracking")
    parcels = [Parcel(line.carrier, line.tracking)] if line.carrier else []
    order = known.order
    if code == order.status or _is_late(order, code):
        return _judge_old(line, known, code, parcels)
    if parcels and code not in WITH_SHIPMENTS:
        return _refused(line, f"{order.number}: a parcel goes with the statuses 50 and 60 only")
    try:
        _check_move(order, code)
    except DomainError as error:
        return _refused(line, f"{order.number}: {error.message}")
    return _Move(line, known, code, parcels)


def _judge_old(
    line: ReportedStatus, known: _Known, code: int, parcels: Sequence[Parcel]
) -> LineResult | _Move:
    """A report of where an order is, or was: it moves nothing, but may bring a parcel."""
    order = known.order
    text = f"{order.number} is {_name(order.status)} already"
    if not parcels or (line.carrier, line.tracking) in known.parcels:
        return LineResult(line.line, Outcome.SAME if code == order.status else Outcome.LATE, text)
    if order.status not in WITH_SHIPMENTS:
        return _refused(line, f"{text}; its parcel was not recorded, which goes with 50 and 60 only")
    return _Move(line, known, order.status, parcels)


def _foresee(line: ReportedStatus, orders: Mapping[int, _Known]) -> LineResult:
    """What would come of a line after those before it; writes nothing."""
    judged = _judge(line, orders)
    if isinstance(judged, LineResult):
        return judged
    previous = judged.known.order.status
    judged.known.order.status = judged.status
    judged.known.parcels.update((parcel.carrier, parcel.tracking_number) for parcel in judged.parcels)
    return judged.result(UNDONE[_outcome(judged, previous)], previous)


def _settle(line: ReportedStatus, orders: dict[int, _Known]) -> LineResult:
    """Does what a line asks for; judges anew where its order has changed since it was read."""
    for _ in range(TRIES):
        judged = _judge(line, orders)
        if isinstance(judged, LineResult):
            return judged
        try:
            return _write(judged)
        except PreconditionFailed:
            orders.update(_orders_of([line]))
        except DomainError as error:
            return _refused(line, f"{judged.known.order.number}: {error.message}")
    return _refused(line, f"{line.number}: it is being changed again and again; try later")


def _write(move: _Move) -> LineResult:
    known, previous = move.known, move.known.order.status
    known.order = move_order(
        order=known.order,
        status=move.status,
        actor=SYSTEM,
        note=move.line.note,
        parcels=move.parcels,
        if_match=[order_etag(known.order)],
    )
    known.parcels.update((parcel.carrier, parcel.tracking_number) for parcel in move.parcels)
    return move.result(_outcome(move, previous), previous)


def _outcome(move: _Move, previous: int) -> Outcome:
    return Outcome.ADDED if move.status == previous else Outcome.MOVED


def _code_of(status: str) -> int | None:
    code = NAMES.get("".join(status.split()).lower())
    if code is None and status.isascii() and status.isdigit() and len(status) < 4:
        code = int(status)
    return code if code in OrderStatus.values else None


def _is_late(order: Order, status: int) -> bool:
    """A report of what lies behind says nothing new, and lowers nothing."""
    return (
        status < order.status
        and order.status not in ENDED
        and status not in ALLOWED_TRANSITIONS[order.status]
    )


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19


def _refused(line: ReportedStatus, text: str) -> LineResult:
    return LineResult(line.line, Outcome.REFUSED, text)


def _name(status: int) -> str:
    return OrderStatus(status).label
