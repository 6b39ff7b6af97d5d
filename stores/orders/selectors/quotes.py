import json
from datetime import date
from decimal import Decimal
from typing import Any

from django.db.models import Q

from accounts.callers import Caller
from fulfillment.core.errors import NotFound
from fulfillment.core.identifiers import parse_uuid
from stores.orders.models import Quote
from stores.orders.pricing import Line, Option
from stores.orders.selectors.access import READ, authorize_store


def quote_for(caller: Caller, store_id: str, quote_id: str) -> Quote:
    access = authorize_store(caller, store_id, READ)
    quote = find_quote(access.visible, quote_id)
    if quote is None:
        raise NotFound("There is no quote with this ID for this caller.", code="quote_not_found")
    return quote


def find_quote(scope: Q, quote_id: str) -> Quote | None:
    """A quote in a scope of StoreAccess: `visible`, or `usable` for an order."""
    key = parse_uuid(quote_id)
    return Quote.objects.filter(scope, pk=key).first() if key else None


def quoted_options(quote: Quote) -> dict[str, Option]:
    """The options by ID, with exactly the quoted decimals."""
    body = json.loads(quote.rendering, parse_float=_cents)
    return {entry["OptionID"]: _option(entry) for entry in body["Options"]}


def _cents(text: str) -> Decimal:
    return Decimal(text).quantize(Decimal("0.01"))


def _option(entry: dict[str, Any]) -> Option:
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
                item["UnitPrice"],
                item.get("EddmSelectionID", ""),
            )
            for item in entry["Items"]
        ),
    )
