"""Orders and quotes in the console's search. Every look-up uses an index, because there may be millions."""

from django.http import HttpRequest

from accounts.admin.staff import staff_on
from fulfillment.core.admin.search import CANDIDATES, record_hits, visible_records
from fulfillment.core.plugins import Hit
from fulfillment.core.text import parse_uuid
from stores.catalog.admin.scoping import ORDER_GRANTS
from stores.orders.models import Order, OrderStatus, Quote
from stores.orders.selectors.search import search_orders

# Of the recipient, what is shown with a result.
RECIPIENT = ("Name", "Company", "City")


def find_orders(request: HttpRequest, words: str) -> list[Hit]:
    visible = visible_records(request, Order).order_by("-number")
    found = search_orders(visible, words, stores=staff_on(request).stores_with(ORDER_GRANTS))
    return record_hits(Order, found.orders[:CANDIDATES], words, _names_of_order)


def find_quotes(request: HttpRequest, words: str) -> list[Hit]:
    if (key := parse_uuid(words)) is None:
        return []
    found = visible_records(request, Quote).filter(pk=key)
    return record_hits(
        Quote, found, words, lambda quote: (str(quote.pk), str(quote.store), str(quote.application or ""))
    )


def _names_of_order(order: Order) -> list[str]:
    status = OrderStatus(order.status).shown
    mode = ["test order"] if order.is_test else []
    return [
        str(order.number),
        *(order.recipient.get(name, "") for name in RECIPIENT if not order.recipient_erased),
        order.external_id or "",
        *mode,
        status,
        str(order.store),
        *order.tracking_numbers[:3],
    ]
