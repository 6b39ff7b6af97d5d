"""Imports order statuses from a CSV file of a carrier or a store's own system, by the rules of the API."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from django.db import transaction
from django.utils.translation import gettext as _

from fulfillment.core.csv_rows import BrokenRow, numbered_rows
from fulfillment.core.errors import DomainError, Invalid, PreconditionFailed
from fulfillment.core.recorded_texts import translated
from fulfillment.core.text import has_control_character, parse_number
from stores.orders.models import Order, OrderStatus, Shipment
from stores.orders.models.status import ALLOWED_TRANSITIONS, WITH_SHIPMENTS
from stores.orders.representations import order_etag
from stores.orders.services.changes import SYSTEM, lock_orders
from stores.orders.services.transitions import Parcel, check_transition, transition_order

COLUMNS = {"ordernumber": True, "status": True, "carrier": False, "tracking": False, "note": False}
SYNONYMS = {"order": "ordernumber", "trackingnumber": "tracking"}
# The limits of the API.
LENGTHS = {"carrier": 60, "tracking": 100, "note": 1000}
NAMES = {status.label.lower(): status.value for status in OrderStatus}
ENDED = {OrderStatus.CANCELLED, OrderStatus.REJECTED}
BATCH = 500
TRIES = 5


@dataclass(frozen=True, slots=True)
class ReportedStatus:
    """A line of the file; `fault` says why it is invalid."""

    line: int
    number: str
    status: str
    carrier: str = ""
    tracking: str = ""
    note: str = ""
    fault: str = ""


def read_reported(source: Iterable[str]) -> Iterator[ReportedStatus]:
    """The lines of a CSV file; the first line names the columns, in any order, case and punctuation.

    Raises Invalid, naming the line, where the file is not CSV.
    """
    rows = _read_rows(source)
    heading = ["".join(filter(str.isalpha, name.lower())) for name in next(rows, (0, []))[1]]
    names = [SYNONYMS.get(name, name) for name in heading]
    missing = [name for name, required in COLUMNS.items() if required and name not in names]
    unknown = [name for name in names if name not in COLUMNS]
    if missing or unknown or len(set(names)) < len(names):
        raise Invalid(
            _(
                "The first line must name the columns order number, status and, optionally, carrier, "
                "tracking and note; found %(found)s."
            )
            % {"found": ", ".join(names)[:200] or "nothing"},
            code="columns_unknown",
        )
    for line, row in rows:
        if any(cell.strip() for cell in row):
            cells = {name: cell.strip() for name, cell in zip(names, row, strict=False)}
            too_many = any(cell.strip() for cell in row[len(names) :])
            fault = f"it has {len(row)} cells for {len(names)} columns" if too_many else _text_fault(cells)
            values = {name: cells.get(name, "") for name in COLUMNS}
            yield ReportedStatus(line, number=values.pop("ordernumber"), **values, fault=fault)


def _read_rows(source: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    try:
        yield from numbered_rows(source)
    except BrokenRow as error:
        message = _("%(error)s No order was changed.") % {"error": translated(str(error))}
        raise Invalid(message, code="csv_broken") from error


def _text_fault(cells: dict[str, str]) -> str:
    for name, length in LENGTHS.items():
        text = cells.get(name, "")
        if len(text) > length:
            return f"{name}: Ensure this field has no more than {length} characters."
        if has_control_character(text):
            return f"{name}: This contains a control character."
    return ""


class LineOutcome(StrEnum):
    MOVED = "moved"
    ADDED = "parcel added"
    WOULD_CHANGE = "would move"
    WOULD_ADD = "would add its parcel"
    SAME = "same"
    LATE = "late"
    REFUSED = "refused"


PREVIEWS = {LineOutcome.MOVED: LineOutcome.WOULD_CHANGE, LineOutcome.ADDED: LineOutcome.WOULD_ADD}


@dataclass(frozen=True, slots=True)
class LineResult:
    line: int
    outcome: LineOutcome
    text: str


@dataclass(slots=True)
class _OrderState:
    """An order as last read, and its parcels."""

    order: Order
    parcels: set[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Transition:
    """The change that a line with new information makes."""

    line: ReportedStatus
    state: _OrderState
    status: int
    parcels: Sequence[Parcel]

    def result(self, outcome: LineOutcome, previous: int) -> LineResult:
        number = self.state.order.number
        if self.status == previous:
            return LineResult(self.line.line, outcome, f"{number} is {_name_status(previous)} already")
        return LineResult(
            self.line.line, outcome, f"{number}: {_name_status(previous)} to {_name_status(self.status)}"
        )


class _RolledBack(Exception):
    pass


def import_order_statuses(
    *, reported: Iterable[ReportedStatus], all_or_nothing: bool
) -> Iterator[LineResult]:
    """Moves the orders line by line and yields the results; the file is read completely before.

    With `all_or_nothing` one refused line rolls back all. Lines are checked without the lock of their store,
    which is taken only to write; lines without new information write nothing.
    """
    lines = list(reported)
    return iter(_import_whole(lines)) if all_or_nothing else _import_singly(lines)


def _import_singly(lines: Sequence[ReportedStatus]) -> Iterator[LineResult]:
    for start in range(0, len(lines), BATCH):
        batch = lines[start : start + BATCH]
        orders = _orders_of(batch)
        yield from (_apply_line(line, orders) for line in batch)


def _import_whole(lines: Sequence[ReportedStatus]) -> list[LineResult]:
    orders = _orders_of(lines)
    previewed = [_preview_line(line, orders) for line in lines]
    if any(result.outcome == LineOutcome.REFUSED for result in previewed):
        return previewed
    results = previewed
    try:
        with transaction.atomic():
            new_lines = [
                line
                for line, result in zip(lines, previewed, strict=True)
                if result.outcome in PREVIEWS.values()
            ]
            _lock_in_order([orders[int(line.number)].order for line in new_lines])
            orders, new_line_numbers = _orders_of(new_lines), {line.line for line in new_lines}
            results = [
                _apply_line(line, orders) if line.line in new_line_numbers else result
                for line, result in zip(lines, previewed, strict=True)
            ]
            if any(result.outcome == LineOutcome.REFUSED for result in results):
                raise _RolledBack
    except _RolledBack:
        return [replace(result, outcome=PREVIEWS.get(result.outcome, result.outcome)) for result in results]
    return results


def _lock_in_order(orders: Sequence[Order]) -> None:
    """By their keys, as those of a gang sheet are locked: with two sequences, one transaction would end the other."""
    lock_orders(store_pks={order.store_id for order in orders})
    rows = Order.objects.filter(pk__in=[order.pk for order in orders]).order_by("pk")
    list(rows.select_for_update(no_key=True).values_list("pk", flat=True))


def _orders_of(lines: Sequence[ReportedStatus]) -> dict[int, _OrderState]:
    numbers = {number for line in lines if (number := parse_number(line.number)) is not None}
    orders = Order.objects.filter(number__in=numbers).only(
        "number", "status", "sequence", "cancellation", "approval", "recipient_erased", "store"
    )
    state = {order.pk: _OrderState(order, set()) for order in orders}
    parcels = Shipment.objects.filter(order__in=state).values_list("order", "carrier", "tracking_number")
    for order, carrier, tracking in parcels:
        state[order].parcels.add((carrier, tracking))
    return {order_state.order.number: order_state for order_state in state.values()}


def _check_line(line: ReportedStatus, orders: Mapping[int, _OrderState]) -> LineResult | _Transition:
    """The change for a line, or its result if nothing is to be changed."""
    number = parse_number(line.number)
    state = None if number is None else orders.get(number)
    if line.fault:
        return _refused_result(line, line.fault)
    if state is None:
        return _refused_result(line, f"there is no order {line.number[:40] or 'without a number'}")
    code = _code_of(line.status)
    if code is None:
        return _refused_result(line, f"{line.status[:40] or 'nothing'} is not a status")
    if bool(line.carrier) != bool(line.tracking):
        return _refused_result(line, "a parcel needs its carrier and its tracking")
    parcels = [Parcel(line.carrier, line.tracking)] if line.carrier else []
    order = state.order
    if code == order.status or _is_late(order, code):
        return _check_reported_before(line, state, code, parcels)
    if parcels and code not in WITH_SHIPMENTS:
        return _refused_result(line, f"{order.number}: a parcel goes with the statuses 50 and 60 only")
    try:
        check_transition(order, code)
    except DomainError as error:
        return _refused_result(line, f"{order.number}: {error.message}")
    return _Transition(line, state, code, parcels)


def _check_reported_before(
    line: ReportedStatus, state: _OrderState, code: int, parcels: Sequence[Parcel]
) -> LineResult | _Transition:
    """Checks a report of the current or an earlier status, which can only add a parcel."""
    order = state.order
    text = f"{order.number} is {_name_status(order.status)} already"
    if not parcels or (line.carrier, line.tracking) in state.parcels:
        return LineResult(line.line, LineOutcome.SAME if code == order.status else LineOutcome.LATE, text)
    if order.status not in WITH_SHIPMENTS:
        return _refused_result(line, f"{text}; its parcel was not recorded, which goes with 50 and 60 only")
    return _Transition(line, state, order.status, parcels)


def _preview_line(line: ReportedStatus, orders: Mapping[int, _OrderState]) -> LineResult:
    """The result that a line would have after those before it; writes nothing."""
    checked = _check_line(line, orders)
    if isinstance(checked, LineResult):
        return checked
    previous = checked.state.order.status
    checked.state.order.status = checked.status
    checked.state.parcels.update((parcel.carrier, parcel.tracking_number) for parcel in checked.parcels)
    return checked.result(PREVIEWS[_describe_outcome(checked, previous)], previous)


def _apply_line(line: ReportedStatus, orders: dict[int, _OrderState]) -> LineResult:
    """Applies a line; checks it again if its order has changed since it was read."""
    for _try in range(TRIES):
        checked = _check_line(line, orders)
        if isinstance(checked, LineResult):
            return checked
        try:
            return _write_move(checked)
        except PreconditionFailed:
            orders.update(_orders_of([line]))
        except DomainError as error:
            return _refused_result(line, f"{checked.state.order.number}: {error.message}")
    return _refused_result(line, f"{line.number}: the order keeps changing; try again later")


def _write_move(move: _Transition) -> LineResult:
    state, previous = move.state, move.state.order.status
    state.order = transition_order(
        order=state.order,
        status=move.status,
        actor=SYSTEM,
        note=move.line.note,
        parcels=move.parcels,
        if_match=[order_etag(state.order)],
    )
    state.parcels.update((parcel.carrier, parcel.tracking_number) for parcel in move.parcels)
    return move.result(_describe_outcome(move, previous), previous)


def _describe_outcome(move: _Transition, previous: int) -> LineOutcome:
    return LineOutcome.ADDED if move.status == previous else LineOutcome.MOVED


def _code_of(status: str) -> int | None:
    code = NAMES.get("".join(status.split()).lower(), parse_number(status))
    return code if code in OrderStatus.values else None


def _is_late(order: Order, status: int) -> bool:
    """Whether the report is of an earlier status, which changes nothing."""
    return (
        status < order.status
        and order.status not in ENDED
        and status not in ALLOWED_TRANSITIONS[order.status]
    )


def _refused_result(line: ReportedStatus, text: str) -> LineResult:
    return LineResult(line.line, LineOutcome.REFUSED, text)


def _name_status(status: int) -> str:
    return OrderStatus(status).label
