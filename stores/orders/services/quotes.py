"""Binding quotes."""

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import orjson
from django.utils import timezone

from fulfillment.core.api.serializers import timestamp
from fulfillment.core.db.prepared import insert_row
from stores.orders.business_days import local_date
from stores.orders.models import Quote
from stores.orders.price_requests import ListedProduct, PriceRequest
from stores.orders.pricing import Option, Prices, price
from stores.orders.selectors.access import StoreAccess
from stores.orders.selectors.price_lists import listed_products, places_served
from stores.orders.selectors.selections import resolve_selections
from stores.orders.services.large_orders import large_order_slot

BINDING = timedelta(hours=48)


def create_quote(*, access: StoreAccess, price_request: PriceRequest) -> Quote:
    """Prices all options of producing and delivering the items, and stores them as a binding quote."""
    with large_order_slot(access.caller, len(price_request.items)):
        price_request = resolve_selections(access.caller, price_request)
        products = ordered_products(access=access, price_request=price_request)
        prices = price_items(access=access, price_request=price_request, products=products)
        return store_quote(access=access, price_request=price_request, prices=prices)


def price_items(
    *,
    access: StoreAccess,
    price_request: PriceRequest,
    products: Mapping[str, ListedProduct],
    at: datetime | None = None,
) -> Prices:
    """The prices, at another time for an imported order; raises Invalid with everything that prevents one."""
    today = local_date(at or timezone.now(), access.store.time_zone)
    return price(price_request, products, today=today, places=partial(places_served, access.store.pk))


def ordered_products(
    *, access: StoreAccess, price_request: PriceRequest, archived: bool = False
) -> dict[str, ListedProduct]:
    """`archived` includes archived products, for orders of earlier quotes."""
    return listed_products(
        store_pk=access.store.pk,
        product_ids=[item.product_id for item in price_request.items],
        country_code=price_request.country_code,
        archived=archived,
    )


def store_quote(*, access: StoreAccess, price_request: PriceRequest, prices: Prices) -> Quote:
    now = timezone.now()
    quote = Quote(
        id=uuid.uuid4(),
        store=access.store,
        application_id=access.caller.application_id,
        user_id=access.caller.user_id,
        is_test=access.caller.is_test,
        country_code=price_request.country_code,
        location_type=price_request.location_type,
        created=now,
        expires=now + BINDING,
    )
    quote.rendering = orjson.dumps(quote_record(quote, prices), default=float).decode()
    insert_row(quote)
    return quote


def quote_record(quote: Quote, prices: Prices) -> dict[str, Any]:
    return {
        "QuoteID": str(quote.pk),
        "StoreID": quote.store.external_id,
        "Created": timestamp(quote.created),
        "ExpiresAt": timestamp(quote.expires),
        "Currency": quote.store.currency,
        "Options": [option_record(option) for option in prices.options],
        "Issues": [
            {"Code": issue.code, "Pointer": issue.pointer, "Message": issue.message}
            for issue in prices.issues
        ],
    }


def option_record(option: Option) -> dict[str, Any]:
    return {
        "OptionID": option.option_id,
        "DeliveryMethodCode": option.delivery_method_code,
        "ProductionDays": option.production_days,
        "ItemsTotal": option.items_total,
        "DeliveryTotal": option.delivery_total,
        "Total": option.total,
        "EarliestDelivery": option.earliest.isoformat(),
        "LatestDelivery": option.latest.isoformat(),
        "Items": [
            {
                "ItemKey": line.item_key,
                "ProductID": line.product_id,
                "Quantity": line.quantity,
                "UnitPrice": line.unit_price,
                "LineTotal": line.total,
                **({"EddmSelectionID": line.eddm_selection_id} if line.eddm_selection_id else {}),
            }
            for line in option.lines
        ],
    }
