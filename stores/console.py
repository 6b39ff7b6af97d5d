"""Navigation, search and dashboard of this app in the operator console."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest

from accounts.admin.staff import staff_on
from fulfillment.core.admin.offers import Card, Entry, Hit
from stores.catalog.admin.scoping import ORDER_GRANTS
from stores.catalog.admin.search import find_products, find_stores
from stores.orders.admin.search import find_orders, find_quotes
from stores.orders.models import OrderStatus
from stores.orders.selectors.tallies import count_requested_cancellations, orders_by_status

OPEN_STATUSES = (
    OrderStatus.RECEIVED,
    OrderStatus.ON_HOLD,
    OrderStatus.ACCEPTED,
    OrderStatus.IN_PRODUCTION,
    OrderStatus.PARTIALLY_SHIPPED,
)
NAVIGATION = [
    Entry("Work", "Orders", "shopping_cart", "stores.order", 105),
    Entry("Work", "Quotes", "request_quote", "stores.quote", 110),
    Entry("Catalog", "Stores", "storefront", "stores.store", 200),
    Entry("Catalog", "Products", "sell", "stores.product", 205),
    Entry("Catalog", "Catalog imports", "upload_file", "stores.catalogupload", 210),
    Entry("Catalog", "Fonts", "font_download", "stores.font", 215),
]


def search(request: HttpRequest, words: str) -> list[Hit]:
    finders = (find_orders, find_stores, find_products, find_quotes)
    return [hit for find in finders for hit in find(request, words)]


def dashboard_cards(request: HttpRequest) -> list[Card]:
    stores = staff_on(request).stores_with(ORDER_GRANTS)
    context = {**_orders(stores), "cancellations": count_requested_cancellations(stores)}
    return [Card("admin/dashboard/orders.html", context, 200)]


def _orders(stores: Sequence[int] | None) -> dict[str, Any]:
    tallies = orders_by_status(stores)
    largest = max(tallies.values(), default=0)
    rows = [
        {
            "code": int(status),
            "name": status.words,
            "count": tallies.get(status, 0),
            "percent": round(tallies.get(status, 0) * 100 / largest, 2) if largest else 0,
        }
        for status in OrderStatus
    ]
    waiting = sum(tallies.get(status, 0) for status in OPEN_STATUSES)
    return {"rows": rows, "waiting": waiting, "total": sum(tallies.values())}
