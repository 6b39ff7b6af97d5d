"""Prices of products in a country and their production speeds, in one prepared statement."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

import orjson
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.callers import Caller
from fulfillment.core.db.prepared import fetch_row, fetch_rows
from fulfillment.core.errors import NotFound
from fulfillment.core.text import parse_uuid
from stores.catalog.models.product import FINISHING_COLUMNS
from stores.orders.models import Quote
from stores.orders.pricing import Line, Option, Prices, price_all_items
from stores.orders.requests import ListedProduct, Price, PriceRequest, Speed
from stores.orders.selectors.access import READ, StoreAccess, authorize_store

FINISHING = ", ".join(f"'{column}', product.{column}" for column in FINISHING_COLUMNS)
# The fields of ListedProduct, in their order.
PRICE_LISTS = f"""
SELECT product.id, product.external_id, product.name, product.version, product.minimum_quantity,
       product.maximum_quantity, product.quantity_increment, product.delivery_method,
       coalesce((SELECT price.location_type FROM stores_deliveredprice price
                 WHERE price.product_id = product.id AND price.is_default), ''),
       (SELECT json_agg(json_build_array(price.delivery_method_code, price.location_type, price.price::text,
                                         price.description) ORDER BY price.position)
        FROM stores_deliveredprice price
        WHERE price.product_id = product.id AND price.country_code = %s)::text,
       (SELECT json_agg(json_build_array(speed.days, speed.is_default) ORDER BY speed.position)
        FROM stores_productionspeed speed WHERE speed.product_id = product.id)::text,
       product.template IS NOT NULL
           OR EXISTS (SELECT FROM stores_templatefield field WHERE field.product_id = product.id),
       product.is_eddm,
       json_build_object({FINISHING})::text
FROM stores_product product
WHERE product.store_id = %s AND product.external_id = ANY(%s) AND (product.is_active OR %s)
"""  # noqa: S608 - constant names
PLACES = """
SELECT product.external_id, price.country_code, string_agg(DISTINCT price.location_type, ', ')
FROM stores_product product JOIN stores_deliveredprice price ON price.product_id = product.id
WHERE product.store_id = %s AND product.external_id = ANY(%s)
GROUP BY product.external_id, price.country_code
ORDER BY product.external_id, price.country_code
"""


def quote_for(caller: Caller, store_id: str, quote_id: str) -> Quote:
    access = authorize_store(caller, store_id, READ)
    quote = find_quote(access.visible, quote_id)
    if quote is None:
        raise NotFound(_("There is no quote with this ID for this caller."), code="quote_not_found")
    return quote


def find_quote(scope: Q, quote_id: str) -> Quote | None:
    """A quote in a scope of StoreAccess: `visible`, or `usable` for an order."""
    key = parse_uuid(quote_id)
    return Quote.objects.filter(scope, pk=key).first() if key else None


class QuotedPrices(NamedTuple):
    """`currency` is that of the store at the time of the quote; the stored `records` of options are by ID."""

    currency: str
    records: dict[str, dict[str, Any]]

    def option(self, option_id: str) -> Option | None:
        """The option with exactly the quoted decimals."""
        record = self.records.get(option_id)
        return _read_option(record) if record else None

    @property
    def options(self) -> list[Option]:
        return [_read_option(record) for record in self.records.values()]


def quoted_prices(quote: Quote) -> QuotedPrices:
    body = orjson.loads(quote.rendering)
    return QuotedPrices(body["Currency"], {option["OptionID"]: option for option in body["Options"]})


def quote_bytes(quote_id: str) -> int:
    """How long a quote is, which is not read for it; 0 for an unknown one."""
    key = parse_uuid(quote_id)
    row = fetch_row("SELECT octet_length(rendering) FROM stores_quote WHERE id = %s", [key]) if key else None
    return row[0] if row else 0


def _read_cents(number: float) -> Decimal:
    return Decimal(str(number)).quantize(Decimal("0.01"))


def _read_option(entry: dict[str, Any]) -> Option:
    return Option(
        delivery_method_code=entry["DeliveryMethodCode"],
        production_days=entry["ProductionDays"],
        earliest=date.fromisoformat(entry["EarliestDelivery"]),
        latest=date.fromisoformat(entry["LatestDelivery"]),
        lines=tuple(
            Line(
                item["ItemKey"],
                item["ProductID"],
                item["Quantity"],
                _read_cents(item["UnitPrice"]),
                item.get("EddmSelectionID", ""),
            )
            for item in entry["Items"]
        ),
    )


def ordered_products(
    *, access: StoreAccess, price_request: PriceRequest, includes_archived: bool = False
) -> dict[str, ListedProduct]:
    """The products of the items by ID, with the prices of the country; `includes_archived` is for earlier quotes."""
    product_ids = sorted({item.product_id for item in price_request.items})
    parameters = (price_request.country_code, access.store.pk, product_ids, includes_archived)
    return {row[1]: _listed_product(row) for row in fetch_rows(PRICE_LISTS, parameters)}


def price_items(
    *,
    access: StoreAccess,
    price_request: PriceRequest,
    products: Mapping[str, ListedProduct],
    moment: datetime | None = None,
) -> Prices:
    """The prices, at another time for an imported order; raises Invalid with everything that prevents one."""
    today = access.store.local_date(moment or timezone.now())
    return price_all_items(
        price_request, products, today=today, places_served=partial(places_served, access.store.pk)
    )


def places_served(store_pk: int, product_ids: Iterable[str]) -> dict[str, list[str]]:
    """Country codes with the location types in brackets, by product ID."""
    places: dict[str, list[str]] = {}
    for product_id, country, kinds in fetch_rows(PLACES, (store_pk, sorted(product_ids))):
        places.setdefault(product_id, []).append(f"{country} ({kinds})")
    return places


def _listed_product(row: tuple[Any, ...]) -> ListedProduct:
    *columns, prices, speeds, takes_data, is_eddm, finishing = row
    listed_prices = tuple(
        Price(code, kind, Decimal(price), text) for code, kind, price, text in orjson.loads(prices or "[]")
    )
    listed_speeds = tuple(Speed(*speed) for speed in orjson.loads(speeds or "[]"))
    columns += [listed_prices, listed_speeds, takes_data, is_eddm, orjson.loads(finishing)]
    return ListedProduct(*columns)
