"""Statuses reported in a table: by a carrier, or by a store's own system."""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from django.db import transaction

from fulfillment.errors import DomainError, Invalid
from stores.models import ActorKind, Order, OrderStatus
from stores.models.order_status import MOVES
from stores.services.order_locks import lock_orders
from stores.services.order_moves import Actor, Parcel, move_order

COLUMNS = {"ordernumber": True, "status": True, "carrier": False, "tracking": False, "note": False}
SYNONYMS = {"order": "ordernumber", "trackingnumber": "tracking"}
NAMES = {status.label.lower(): status.value for status in OrderStatus}
ENDED = {OrderStatus.CANCELLED, OrderStatus.REJECTED}
SYSTEM = Actor(ActorKind.SYSTEM)


class Outcome(StrEnum):
    MOVED = "moved"
    SAME = "same"
    LATE = "late"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class ReportedStatus:
    line: int
    number: str
    status: str
    carrier: str = ""
    tracking: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class LineResult:
    line: int
    outcome: Outcome
    text: str


class _Undone(Exception):
    pass


def read_reported(source: Iterable[str]) -> Iterator[ReportedStatus]:
    """The lines of a CSV file; its columns are named in the first line, in any order and spelling."""
    reader = csv.reader(source)
    heading = ["".join(filter(str.isalpha, name.lower())) for name in next(reader, [])]
    names = [SYNONYMS.get(name, name) for name in heading]
    missing = [name for name, required in COLUMNS.items() if required and name not in names]
    unknown = [name for name in names if name not in COLUMNS]
    if missing or unknown or len(set(names)) < len(names):
        raise Invalid(
            "The first line must name the columns order number, status and, if wanted, carrier, tracking and "
            f"note; found {', '.join(names) or 'nothing'}.",
            code="columns_unknown",
        )
    for row in reader:
        if any(cell.strip() for cell in row):
            cells = {name: cell.strip() for name, cell in zip(names, row, strict=False)}
            yield ReportedStatus(
                reader.line_num,
                cells.get("ordernumber", ""),
                *(cells.get(name, "") for name in ("status", "carrier", "tracking", "note")),
            )


def import_order_statuses(*, reported: Iterable[ReportedStatus], all_or_nothing: bool) -> list[LineResult]:
    """Moves the orders line by line; with `all_or_nothing` one refusal takes back every line."""
    if not all_or_nothing:
        return [_apply(line) for line in reported]
    lines, results = list(reported), []
    try:
        with transaction.atomic():
            numbers = [int(line.number) for line in lines if _is_number(line.number)]
            stores = Order.objects.filter(number__in=numbers).values_list("store", flat=True)
            lock_orders(store_pks=stores.distinct())
            results = [_apply(line) for line in lines]
            if any(result.outcome == Outcome.REFUSED for result in results):
                raise _Undone
    except _Undone:
        pass
    return results


def _apply(line: ReportedStatus) -> LineResult:
    order = Order.objects.filter(number=line.number).first() if _is_number(line.number) else None
    if order is None:
        return _refused(line, f"there is no order {line.number or 'without a number'}")
    code = NAMES.get("".join(line.status.split()).lower()) or int(
        line.status if line.status.isdecimal() and len(line.status) < 4 else 0
    )
    if code not in OrderStatus.values:
        return _refused(line, f"{line.status or 'nothing'} is not a status")
    if bool(line.carrier) != bool(line.tracking):
        return _refused(line, "a parcel needs its carrier and its tracking")
    if _is_late(order, code):
        return LineResult(line.line, Outcome.LATE, f"{order.number} is {_name(order.status)} already")
    parcels = [Parcel(line.carrier[:60], line.tracking[:100])] if line.carrier else []
    try:
        moved = move_order(order=order, status=code, actor=SYSTEM, note=line.note[:1000], parcels=parcels)
    except DomainError as error:
        return _refused(line, f"{order.number}: {error.message}")
    if moved.sequence == order.sequence:
        return LineResult(line.line, Outcome.SAME, f"{order.number} is {_name(code)} already")
    return LineResult(line.line, Outcome.MOVED, f"{order.number}: {_name(order.status)} to {_name(code)}")


def _is_late(order: Order, status: int) -> bool:
    """A report of what lies behind says nothing new, and lowers nothing."""
    return status < order.status and order.status not in ENDED and status not in MOVES[order.status]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19


def _refused(line: ReportedStatus, text: str) -> LineResult:
    return LineResult(line.line, Outcome.REFUSED, text)


def _name(status: int) -> str:
    return OrderStatus(status).label
