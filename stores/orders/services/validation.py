"""Checks an order before it is accepted: its option, its destination, its print data."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import orjson
from django.utils import timezone
from django.utils.translation import gettext as _

from fulfillment.core.errors import (
    Conflict,
    DomainError,
    Fault,
    Invalid,
    collecting_faults,
    invalid_from,
    raise_faults,
)
from fulfillment.core.text import JsonObject
from stores.orders.models import TEST_OUTCOME, Order, Quote, TestOutcome
from stores.orders.pricing import Line, Option, with_checked_terms
from stores.orders.requests import (
    ListedProduct,
    OrderRequest,
    PriceRequest,
    PriceRequestItem,
    eddm_faults,
    repeated_item_keys,
)
from stores.orders.selectors.access import StoreAccess
from stores.orders.selectors.orders import find_order
from stores.orders.selectors.quotes import find_quote, ordered_products, price_items, quoted_prices
from stores.orders.selectors.selections import stored_selections
from stores.orders.services.order_prints import template_data_faults
from stores.orders.services.packing_slips import unprintable_faults
from stores.orders.services.quotes import PreparedQuote, store_quote


class ValidatedOrder(NamedTuple):
    """`stored_selections` has an entry for each item: what the order keeps of its EDDM selection, or None."""

    products: Mapping[str, ListedProduct]
    option: Option
    quote: Quote | None
    reprint_of: Order | None
    stored_selections: Sequence[JsonObject | None]


def validate_order(*, access: StoreAccess, request: OrderRequest) -> ValidatedOrder:
    """Applies all rules of an order, whose selections are resolved, in their order; raises Invalid with every fault.

    Template data is checked when the print files are rendered; for an order that is refused here, as far as its faults
    show without rendering.
    """
    is_quoted = request.quote_id is not None
    products = ordered_products(
        access=access, price_request=request.price_request, includes_archived=is_quoted
    )
    if request.checked_price is not None:
        products = {
            product_id: with_checked_terms(request.price_request, product, request.checked_price)
            for product_id, product in products.items()
        }
    faults = [*unprintable_faults(request.recipient), *_outcome_faults(access, request)]
    reprint_of = quote = option = None
    with collecting_faults(faults):
        reprint_of = _reprinted_order(access, request)
    with collecting_faults(faults):
        quote, option = _priced_option(access, request, products)
    if faults or option is None:
        faults += template_data_faults(access=access, request=request, products=products)
        raise invalid_from(faults)
    if quote is not None:
        _refuse_expired(access, request, quote)
    stored = stored_selections(item.eddm for item in request.price_request.items)
    return ValidatedOrder(products, option, quote, reprint_of, stored)


def _priced_option(
    access: StoreAccess, request: OrderRequest, products: Mapping[str, ListedProduct]
) -> tuple[Quote | None, Option]:
    if request.quote_id is not None:
        return _quoted_option(access, request)
    price_request = request.price_request
    prices = price_items(access=access, price_request=price_request, products=products, moment=request.placed)
    return None, prices.default_option(products)


def _outcome_faults(access: StoreAccess, request: OrderRequest) -> list[Fault]:
    """Faults of a test order's outcome; in a live order it is ordinary metadata."""
    outcome = (request.metadata or {}).get(TEST_OUTCOME)
    if not access.caller.is_test or outcome is None or outcome in TestOutcome.values:
        return []
    allowed = ", ".join(TestOutcome.values)
    message = f"{TEST_OUTCOME}: {outcome[:40]!r} is no outcome of a test order; allowed: {allowed}."
    return [Fault(f"/Metadata/{TEST_OUTCOME}", "test_outcome_unknown", message)]


def _reprinted_order(access: StoreAccess, request: OrderRequest) -> Order | None:
    if request.reprint_of is None:
        return None
    original = find_order(access, request.reprint_of, scope=access.usable)
    if original is None:
        message = "ReprintOfOrderID: there is no such order in this store."
        raise Invalid.at("/ReprintOfOrderID", "order_unknown", message)
    return original


def _quoted_option(access: StoreAccess, request: OrderRequest) -> tuple[Quote, Option]:
    """The quote, perhaps an expired one, and its ordered option; raises Invalid if the order is not what was quoted."""
    quote = find_quote(access.usable, request.quote_id or "")
    if quote is None:
        raise Invalid.at(
            "/QuoteID", "quote_unknown", _("QuoteID: there is no such quote of yours in this store.")
        )
    quoted = quoted_prices(quote)
    if quoted.currency != access.store.currency:
        message = (
            f"QuoteID: the quote is in {quoted.currency}, and the store is in {access.store.currency} now."
        )
        raise Invalid.at("/QuoteID", "quote_mismatch", message)
    option = quoted.option(request.option_id or "")
    if option is None:
        message = f"OptionID: not an option of this quote; allowed: {', '.join(quoted.records)}."
        raise Invalid.at("/OptionID", "option_unknown", message)
    option = replace(option, lines=_lines_in_order(request, option))
    raise_faults(_find_mismatches(request, quote, option))
    return quote, option


def _lines_in_order(request: OrderRequest, option: Option) -> tuple[Line, ...]:
    """The quoted lines by item, with its key. Unchanged where an item was not quoted: the fault names its place."""
    quoted, lines = list(option.lines), []
    for item in request.price_request.items:
        line = next((line for line in quoted if _is_quoted_line(item, line)), None)
        if line is None:
            return option.lines
        quoted.remove(line)
        lines.append(replace(line, item_key=item.item_key))
    return (*lines, *quoted)


def _is_quoted_line(item: PriceRequestItem, line: Line) -> bool:
    return (item.product_id, item.quantity, _selection_key(item.selection_id)) == (
        line.product_id,
        line.quantity,
        _selection_key(line.eddm_selection_id),
    )


def _refuse_expired(access: StoreAccess, request: OrderRequest, quote: Quote) -> None:
    if quote.expires <= timezone.now():
        raise Conflict(
            _("The quote expired at %(expires)s UTC; `Quote` is a new one.")
            % {"expires": f"{quote.expires:%Y-%m-%d %H:%M}"},
            code="quote_expired",
            members=_new_quote(access, replace(request.price_request, location_type=quote.location_type)),
        )


def _find_mismatches(request: OrderRequest, quote: Quote, option: Option) -> list[Fault]:
    """The price binds only for the quoted items, country and location type."""
    price_request, faults = request.price_request, []
    if len(price_request.items) != len(option.lines):
        message = f"Items: {len(option.lines)} were quoted, {len(price_request.items)} are ordered."
        return [Fault("/Items", "quote_mismatch", message)]
    for index, (item, line) in enumerate(zip(price_request.items, option.lines, strict=True)):
        if item.product_id != line.product_id:
            message = f"ProductID: {line.product_id} was quoted."
            faults.append(Fault(f"/Items/{index}/ProductID", "quote_mismatch", message))
        if faults_of_eddm := eddm_faults(index, item):
            faults += faults_of_eddm
        elif _selection_key(item.selection_id) != _selection_key(line.eddm_selection_id):
            message = f"EddmSelectionID: {line.eddm_selection_id or 'none'} was quoted."
            faults.append(Fault(f"/Items/{index}/EddmSelectionID", "quote_mismatch", message))
        elif item.quantity != line.quantity:
            message = f"Quantity: {line.quantity} were quoted."
            faults.append(Fault(f"/Items/{index}/Quantity", "quote_mismatch", message))
    if price_request.country_code != quote.country_code:
        message = f"CountryCode: the quote is for {quote.country_code}."
        faults.append(Fault("/Recipient/CountryCode", "quote_mismatch", message))
    if price_request.location_type and price_request.location_type != quote.location_type:
        message = f"LocationType: the quote is for {quote.location_type or 'the default location type'}."
        faults.append(Fault("/Recipient/LocationType", "quote_mismatch", message))
    return [*faults, *repeated_item_keys(price_request)]


def _selection_key(selection_id: str) -> str:
    """Equal for the spellings of one UUID."""
    return selection_id.lower().replace("-", "")


def _new_quote(access: StoreAccess, price_request: PriceRequest) -> dict[str, Any]:
    try:
        products = ordered_products(access=access, price_request=price_request)
        prices = price_items(access=access, price_request=price_request, products=products)
        new_quote = store_quote(prepared=PreparedQuote(access, price_request, prices))
    except DomainError:
        return {}  # the items can no longer be priced, so the error has no new quote
    return {"Quote": orjson.loads(new_quote.rendering)}
