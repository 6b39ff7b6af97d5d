"""Quotes, and the limit of large orders and quotes: one at a time for each caller, across all processes."""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import orjson
from django.utils import timezone

from accounts.callers import Caller
from fulfillment.core.db.locks import lock_number, lock_of_its_own
from fulfillment.core.errors import TooManyAtOnce, collecting_faults, raise_faults
from fulfillment.core.text import timestamp
from stores.budgets.representations import quote_budget_record
from stores.budgets.selectors.standings import standings_of_caller
from stores.budgets.standings import Standing, decision_of
from stores.concurrency_limits import PRICING_MANY_ITEMS
from stores.orders.models import Quote
from stores.orders.pricing import Option, Prices
from stores.orders.requests import PriceRequest
from stores.orders.selectors.access import StoreAccess
from stores.orders.selectors.quotes import ordered_products, price_items, quote_bytes
from stores.orders.selectors.selections import resolve_selections
from stores.orders.services.order_prints import ItemFinding, artwork_faults, preflight_items

# What takes some 50 ms.
MANY_ITEMS, MANY_ROUTES, LONG_QUOTE_BYTES = 20, 1000, 512 * 1024
BINDING = timedelta(hours=48)


@contextmanager
def slot_if_many_items(
    caller: Caller, price_request: PriceRequest, *, quote_id: str | None = None
) -> Iterator[None]:
    """Holds a slot for an order or quote of many items or routes, or an order of a long quote; others need none."""
    if not (
        len(price_request.items) > MANY_ITEMS
        or price_request.route_count > MANY_ROUTES
        or (quote_id and quote_bytes(quote_id) > LONG_QUOTE_BYTES)
    ):
        yield
        return
    number = lock_number(f"large order of {caller.key}")
    with PRICING_MANY_ITEMS.slot(caller.key), lock_of_its_own(number) as is_ours:
        if not is_ours:
            message = "A large order or quote of yours is being processed; wait for it."
            raise TooManyAtOnce(message)
        yield


@dataclass(frozen=True, slots=True)
class PreparedQuote:
    """What a quote is made of; `findings` are those of preflight in its PDFs, None without a PDF."""

    access: StoreAccess
    price_request: PriceRequest
    prices: Prices
    findings: Sequence[ItemFinding] | None = None


def create_quote(*, access: StoreAccess, price_request: PriceRequest) -> Quote:
    """Prices the options of producing and delivering the items, and stores them as a binding quote.

    For pages, which name no speed: where all options would be too many, those at the default speed.
    """
    prepared = prepare_quote(access=access, price_request=price_request)
    prices = prepared.prices
    if prices.has_too_many_options:
        products = ordered_products(access=access, price_request=prepared.price_request)
        prices = replace(prices, speeds=[prices.default_speed(products)])
    return store_quote(prepared=replace(prepared, prices=prices))


def prepare_quote(*, access: StoreAccess, price_request: PriceRequest) -> PreparedQuote:
    """Checks and prices the items. PDFs take up to 20 seconds, so call it outside of a transaction."""
    with slot_if_many_items(access.caller, price_request):
        price_request = resolve_selections(access.caller, price_request)
        products = ordered_products(access=access, price_request=price_request)
        faults = artwork_faults(access=access, price_request=price_request, products=products)
        with collecting_faults(faults):
            prices = price_items(access=access, price_request=price_request, products=products)
        raise_faults(faults)
        findings = preflight_items(access=access, price_request=price_request, products=products)
        return PreparedQuote(access, price_request, prices, findings)


def store_quote(*, prepared: PreparedQuote) -> Quote:
    access, price_request = prepared.access, prepared.price_request
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
    standings = standings_of_caller(access.caller, store=access.store, moment=now)
    quote.rendering = orjson.dumps(quote_record(quote, prepared, standings), default=float).decode()
    quote.save(force_insert=True)
    return quote


def quote_record(quote: Quote, prepared: PreparedQuote, standings: Sequence[Standing]) -> dict[str, Any]:
    prices, items = prepared.prices, prepared.price_request.items
    findings = prepared.findings
    preflight = [{"ItemKey": items[index].item_key, **finding} for index, finding in findings or ()]
    return {
        "QuoteID": str(quote.pk),
        "StoreID": quote.store.external_id,
        "Created": timestamp(quote.created),
        "ExpiresAt": timestamp(quote.expires),
        "Currency": quote.store.currency,
        "Options": [option_record(option, standings) for option in prices.options],
        "Budgets": [quote_budget_record(standing) for standing in standings],
        "Issues": [
            {"Code": issue.code, "Pointer": issue.pointer, "Message": issue.message}
            for issue in prices.issues
        ],
        **({} if findings is None else {"Preflight": preflight}),
    }


def option_record(option: Option, standings: Sequence[Standing]) -> dict[str, Any]:
    quantity = sum(line.quantity for line in option.lines)
    return {
        "OptionID": option.option_id,
        "DeliveryMethodCode": option.delivery_method_code,
        "ProductionDays": option.production_days,
        "ItemsTotal": option.items_total,
        "DeliveryTotal": option.delivery_total,
        "Total": option.total,
        "EarliestDelivery": option.earliest.isoformat(),
        "LatestDelivery": option.latest.isoformat(),
        "BudgetDecision": decision_of(standings, total=option.total, quantity=quantity).value,
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
