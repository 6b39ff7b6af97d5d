"""Orders and quotes in the console's search. Every look-up uses an index, because there may be millions."""

from functools import reduce
from operator import or_
from uuid import UUID

from django.db.models import Q
from django.http import HttpRequest

from fulfillment.core.admin.search import CANDIDATES, record_hits, visible_records
from fulfillment.core.plugins import Hit
from fulfillment.core.text import parse_uuid
from stores.orders.models import Order, OrderStatus, Quote, Shipment

# The start of a number matches if at most two digits are missing: at most 110 rows are read.
MIN_DIGITS, MISSING_DIGITS, MAX_DIGITS = 3, 2, 18


def find_orders(request: HttpRequest, words: str) -> list[Hit]:
    """By number, or its beginning, OrderID, ExternalID or tracking number."""
    visible = visible_records(request, Order).order_by()
    found: dict[UUID, Order] = {}
    for condition in _conditions(words):
        found |= {order.pk: order for order in visible.filter(condition)[:CANDIDATES]}
    return record_hits(Order, found.values(), words, _names_of_order)


def find_quotes(request: HttpRequest, words: str) -> list[Hit]:
    if (key := parse_uuid(words)) is None:
        return []
    found = visible_records(request, Quote).filter(pk=key)
    return record_hits(
        Quote, found, words, lambda quote: (str(quote.pk), str(quote.store), str(quote.application or ""))
    )


def _conditions(words: str) -> list[Q]:
    """The conditions, for one query each: PostgreSQL scans the table for an OR if one of them looks common."""
    conditions = [Q(external_id=words)]
    if parcels := list(
        Shipment.objects.filter(tracking_number=words).values_list("order", flat=True)[:CANDIDATES]
    ):
        conditions.append(Q(pk__in=parcels))
    if key := parse_uuid(words):
        conditions.append(Q(pk=key))
    if words.isascii() and words.isdigit() and len(words) <= MAX_DIGITS - MISSING_DIGITS:
        conditions.append(_numbered(int(words), MISSING_DIGITS if len(words) >= MIN_DIGITS else 0))
    return conditions


def _numbered(number: int, missing: int) -> Q:
    ranges = ((number * 10**one, (number + 1) * 10**one - 1) for one in range(1, missing + 1))
    return reduce(or_, (Q(number__range=one) for one in ranges), Q(number=number))


def _names_of_order(order: Order) -> list[str]:
    status = OrderStatus(order.status).words
    mode = ["test order"] if order.is_test else []
    return [
        str(order.number),
        order.external_id or "",
        *mode,
        status,
        str(order.store),
        *order.tracking_numbers[:3],
    ]
