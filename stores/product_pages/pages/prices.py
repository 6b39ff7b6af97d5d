"""The part of the form for a price, quantity and destination; and the calls that pages make.

What a product's page does as an application is in its log and counts, like the API call with the same effect.
"""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from accounts.callers import Caller
from applications.registration.selectors.applications import Requester
from applications.registration.services.request_log import is_enabled, note_request
from applications.registration.services.usage import count_call
from delivery.selection.models import EddmSelection
from fulfillment.core.api.errors import domain_problem
from fulfillment.core.errors import DomainError, faults_at_fields
from fulfillment.core.observability.logs import current_trace, start_trace
from fulfillment.core.reference.operations import operations
from fulfillment.core.text import MAX_INTEGER, method_name, parse_number
from stores.budgets.standings import BudgetDecision
from stores.catalog.models import Store
from stores.catalog.services.usage import count_store_call
from stores.orders.models import Quote
from stores.orders.request_bodies import price_request_from, read_order_request
from stores.orders.selectors.access import WRITE, authorize_store
from stores.orders.selectors.approvals import exceeds_total
from stores.orders.services.orders import place_test_order
from stores.orders.services.quotes import create_quote
from stores.product_pages.selectors import ProductPage

# Pointers of the API, and the fields of the form.
PLACES = {
    "/Items/0/Quantity": "quantity",
    "/Items/0/EddmSelectionID": "selection",
    "/ShipTo/CountryCode": "country",
}
# Recipients of the example order, by country.
EXAMPLE_ADDRESSES: dict[str, dict[str, str]] = {
    "US": {"Address1": "1200 17th Street", "City": "Denver", "State": "CO", "PostalCode": "80202"},
    "CA": {"Address1": "100 King Street West", "City": "Toronto", "State": "ON", "PostalCode": "M5X 1A9"},
    "GB": {"Address1": "10 Fleet Street", "City": "London", "PostalCode": "EC4Y 1AU"},
    "DE": {"Address1": "Friedrichstraße 10", "City": "Berlin", "PostalCode": "10117"},
}
OTHER_ADDRESS = {"Address1": "1 Main Street", "City": "Capital", "PostalCode": "1000"}


@dataclass(slots=True)
class PriceForm:
    """`countries` and `locations` are those the product is delivered to.

    `selection_id` names one of `selections`, in place of the quantity, for a product for EDDM. `chosen` is the OptionID
    that a new quote keeps.
    """

    record: dict[str, Any]
    quantity: str
    country: str
    location: str
    countries: list[tuple[str, str]]
    locations: list[str]
    selections: list[EddmSelection] = field(default_factory=list)
    selection_id: str = ""
    chosen: str = ""
    errors: dict[str, list[str]] = field(default_factory=dict)
    quote: Quote | None = None

    @property
    def is_for_selection(self) -> bool:
        return bool(self.selection_id)

    def is_valid(self) -> bool:
        """False, with an error at the field, if the product is not delivered there, the quantity is no number or the
        selection is unknown.
        """
        if self.is_for_selection:
            if self.selection_id not in {str(selection.pk) for selection in self.selections}:
                self.errors["selection"] = [_("There is no such selection of yours, or it has expired.")]
        elif parse_number(self.quantity, most=MAX_INTEGER) is None:
            usual = self.record["DefaultQty"]
            self.errors["quantity"] = [_("Enter a whole number, such as %(example)s.") % {"example": usual}]
        return not self.errors

    def take_errors(self, error: DomainError) -> list[str]:
        placed, others = faults_at_fields(error, PLACES)
        self.errors |= placed
        return others

    def options(self) -> list[dict[str, Any]]:
        """The options of the quote, with dates for people."""
        if self.quote is None:
            return []
        records = json.loads(self.quote.rendering)["Options"]
        offered = [option["OptionID"] for option in records]
        option_chosen = self.chosen if self.chosen in offered else next(iter(offered), "")
        return [
            {
                "method": option["DeliveryMethodCode"],
                "description": self._description(option["DeliveryMethodCode"]),
                "days": option["ProductionDays"],
                "unit": option["Items"][0]["UnitPrice"],
                "total": option["Total"],
                "earliest": date.fromisoformat(option["EarliestDelivery"]),
                "latest": date.fromisoformat(option["LatestDelivery"]),
                "key": f"{self.quote.pk}/{option['OptionID']}",
                "is_chosen": option["OptionID"] == option_chosen,
                "decision": self._decision(option),
            }
            for option in records
        ]

    @property
    def needs_approval(self) -> bool:
        return any(option["decision"] == BudgetDecision.NEEDS_APPROVAL for option in self.options())

    def _decision(self, option: dict[str, Any]) -> str:
        decision: str = option["BudgetDecision"]
        if decision == BudgetDecision.REFUSED or self.quote is None:
            return decision
        above = exceeds_total(self.quote.store, Decimal(str(option["Total"])))
        return BudgetDecision.NEEDS_APPROVAL.value if above else decision

    def quote_body(self, product_id: str) -> dict[str, Any]:
        return {"Items": [self._item(product_id)], "ShipTo": self._place}

    def order_body(
        self,
        product_id: str,
        values: Mapping[str, str] | None,
        address: Mapping[str, str] | None = None,
        artwork: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The order to an example address unless one is given."""
        data: dict[str, Any] = {"TemplateData": dict(values)} if values is not None else {}
        if artwork is not None:
            data["Artwork"] = dict(artwork)
        if address is None:
            address = {"Name": "Ada Lovelace", **EXAMPLE_ADDRESSES.get(self.country, OTHER_ADDRESS)}
        return {"Recipient": {**address, **self._place}, "Items": [{**self._item(product_id), **data}]}

    @property
    def _place(self) -> dict[str, str]:
        return {"CountryCode": self.country, **({"LocationType": self.location} if self.location else {})}

    def _item(self, product_id: str) -> dict[str, Any]:
        if self.is_for_selection:
            return {"ProductID": product_id, "EddmSelectionID": self.selection_id}
        quantity = parse_number(self.quantity)
        quantity = self.record["DefaultQty"] if quantity is None else quantity
        return {"ProductID": product_id, "Quantity": quantity}

    def _description(self, method: str) -> str:
        prices = self.record["DeliveredPrices"]
        descriptions = (price["Description"] for price in prices if price["DeliveryMethodCode"] == method)
        return next(descriptions, "") or method_name(method)


def make_price_form(
    record: dict[str, Any],
    values: Mapping[str, str] | None,
    *,
    selections: list[EddmSelection] | None = None,
    selection_id: str = "",
) -> PriceForm:
    prices = record.get("DeliveredPrices", [])
    countries = sorted(
        {(price["CountryCode"], price["Country"]) for price in prices}, key=lambda country: country[1]
    )
    locations = sorted({price["LocationType"] for price in prices})
    usual = next((price for price in prices if price["IsDefault"]), prices[0] if prices else None)
    values = values or {}
    country = values.get("country", usual["CountryCode"] if usual else "US")[:20]
    location = values.get("location", usual["LocationType"] if usual else "")[:20]
    form = PriceForm(
        record=record,
        quantity=values.get("quantity", str(record["DefaultQty"])).strip()[:20],
        country=country,
        location=location,
        countries=countries,
        locations=locations,
        selections=selections or [],
        selection_id=selection_id[:64],
    )
    # The form is from before the product changed, or from an earlier order: no other place is chosen without a word.
    if countries and country not in dict(countries):
        form.errors["country"] = [_("The product is not delivered there. Choose another country.")]
    if locations and location not in locations:
        form.errors["location"] = [_("The product is not delivered to such addresses. Choose another type.")]
    return form


@dataclass(kw_only=True)
class PricedForm:
    """What the forms of a product share: who orders which product from which store, and its price."""

    request: HttpRequest
    store: Store
    actors: list[Requester]
    actor: Requester
    product: ProductPage
    price: PriceForm
    problems: list[str] = field(default_factory=list)
    status: int = 200

    @property
    def product_id(self) -> str:
        return self.product.version.external_id

    @property
    def tries_orders(self) -> bool:
        """Whether one of the actors places orders here that are never produced."""
        return self.store.is_demo or any(actor.caller.is_test for actor in self.actors)

    def recorded(self, operation_id: str) -> AbstractContextManager[None]:
        return recorded_call(self.request, self.actor.caller, self.store, operation_id)

    def show_prices(self) -> None:
        """Requests the prices of what the form says; shows a refusal at its field or above the form."""
        if not self.price.is_valid():
            return
        try:
            with self.recorded("quote_create"):
                access = authorize_store(self.actor.caller, self.store.external_id, WRITE)
                price_request = price_request_from(self.price.quote_body(self.product_id))
                self.price.quote = create_quote(access=access, price_request=price_request)
        except DomainError as error:
            self.problems += self.price.take_errors(error)

    def order_as_test(self, body: Mapping[str, Any]) -> HttpResponse | None:
        if not self.price.is_valid():
            return None
        caller = self.actor.caller
        with self.recorded("order_create"):
            access = authorize_store(caller, self.store.external_id, WRITE)
            order = place_test_order(access=access, request=read_order_request(body))
        if caller.application_id is None:
            messages.success(self.request, _("Order %(number)s is placed.") % {"number": order.number})
            return redirect("portal:order", order.pk)
        return redirect("portal:application-order", caller.application_id, order.pk)


@contextmanager
def recorded_call(request: HttpRequest, caller: Caller, store: Store, operation_id: str) -> Iterator[None]:
    """Records the operation with the status that its API call would have."""
    started, problem = time.perf_counter(), None
    status = _success_status(operation_id)
    try:
        yield
    except DomainError as error:
        response = domain_problem(error)
        status, problem = response.status_code, response.content
        raise
    finally:
        if not caller.is_test:
            count_store_call(store_id=store.external_id, status=status)
        if caller.application_id is not None:
            count_call(application_id=caller.application_id, status=status, on_page=True)
            if is_enabled():
                note_request(
                    application_id=caller.application_id,
                    user_id=caller.user_id,
                    method=operations()[operation_id].method,
                    route=operations()[operation_id].path.removeprefix("/"),
                    status=status,
                    seconds=time.perf_counter() - started,
                    request_id=(current_trace.get() or start_trace(request)).trace_id,
                    request_meta=request.META,
                    response_headers={"Content-Type": "application/json"},
                    problem=problem,
                )


def _success_status(operation_id: str) -> int:
    return next((int(response.status) for response in operations()[operation_id].responses), 200)
