"""The order form of a saved selection: the same request, checks and errors as an order over the API."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q
from django.http import HttpRequest

from accounts.callers import Caller
from accounts.throttles import enforce_page_limit
from delivery.selection.models import EddmSelection
from fulfillment.core.errors import DomainError
from stores.catalog.models import Product, Store
from stores.orders.api.requests import price_request_from
from stores.orders.models import Order, Quote
from stores.orders.pricing import Option
from stores.orders.selectors.access import WORK, authorize_store
from stores.orders.selectors.quotes import find_quote, quoted_options
from stores.orders.services.quotes import create_quote
from stores.playground.fields import TEMPLATE_DATA, ProductForm, form_fields, order_request_from
from stores.playground.selectors.products import product_page
from stores.playground.services.orders import place_staff_order

# Name in the API, label, whether it is required, and what a browser may fill in.
RECIPIENT = (
    ("Name", "Name", True, "name"),
    ("Company", "Company", False, "organization"),
    ("Address1", "Address", True, "address-line1"),
    ("Address2", "Address, second line", False, "address-line2"),
    ("City", "City", True, "address-level2"),
    ("State", "State", False, "address-level1"),
    ("PostalCode", "Postal code", True, "postal-code"),
    ("Phone", "Phone", False, "tel"),
    ("Email", "E-mail", False, "email"),
)
# Routes of EDDM are in the United States.
COUNTRY = "US"


@dataclass(slots=True)
class RecipientField:
    name: str
    label: str
    is_required: bool
    autocomplete: str
    value: str = ""
    errors: list[str] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class MailingOrder(ProductForm):
    """Everything the page shows."""

    store: Store
    selection: EddmSelection
    recipient: list[RecipientField]
    reference: str
    quote: Quote | None = None
    option_id: str = ""
    # The order that has the reference already.
    existing: str = ""

    @property
    def options(self) -> list[Option]:
        return list(quoted_options(self.quote).values()) if self.quote else []

    def body(self) -> dict[str, Any]:
        """The order as the API takes it."""
        item: dict[str, Any] = {
            "ProductID": self.product_id,
            "EddmSelectionID": str(self.selection.pk),
        }
        if self.fields:
            item["TemplateData"] = self.template_data
        sent = {one.name: one.value for one in self.recipient if one.value}
        body: dict[str, Any] = {"Recipient": {**sent, "CountryCode": COUNTRY}, "Items": [item]}
        if self.reference:
            body["ExternalID"] = self.reference
        if self.quote is not None and self.option_id:
            body |= {"QuoteID": str(self.quote.pk), "OptionID": self.option_id}
        return body

    def fail(self, error: DomainError) -> None:
        recipient = {f"/Recipient/{one.name}": one for one in self.recipient}
        self.show_errors(error, {**self.places(TEMPLATE_DATA), **recipient})
        self.existing = str(error.members.get("OrderID", ""))


def open_order(
    request: HttpRequest, *, caller: Caller, product: Product, selection: EddmSelection
) -> MailingOrder:
    """The form as it was sent; at first with a reference that refuses a second order of the same selection."""
    sent: Mapping[str, str] | None = request.POST if request.method == "POST" else None
    listed = product_page(caller, product.store.external_id, product.external_id)
    values = sent or {"reference": f"mailing-{selection.pk}"}
    recipient = [
        RecipientField(*facts, value=values.get(f"recipient-{facts[0]}", "").strip()) for facts in RECIPIENT
    ]
    page = MailingOrder(
        caller=caller,
        product=listed,
        fields=form_fields(listed, sent),
        store=product.store,
        selection=selection,
        recipient=recipient,
        reference=values.get("reference", "").strip(),
        option_id=values.get("option", ""),
    )
    page.quote = _own_quote(page, values.get("quote", ""))
    if listed.problem:
        page.problems.append(listed.problem)
    return page


def answer_button(request: HttpRequest, page: MailingOrder) -> Order | None:
    """Does what the pressed button says; faults are shown on the page."""
    try:
        enforce_page_limit("playground", page.caller.user_id)
        page.take_files(request.FILES)
        if page.has_errors:
            return None
        return _BUTTONS.get(request.POST.get("do", ""), _prices)(page)
    except DomainError as error:
        page.fail(error)
    return None


def _own_quote(page: MailingOrder, quote_id: str) -> Quote | None:
    own = Q(store=page.store.pk, user=page.caller.user_id)
    return find_quote(own, quote_id) if quote_id else None


def _prices(page: MailingOrder) -> None:
    access = authorize_store(page.caller, page.store.external_id, WORK)
    item = {"ProductID": page.product_id, "EddmSelectionID": str(page.selection.pk)}
    values = {"Items": [item], "ShipTo": {"CountryCode": COUNTRY}}
    page.quote = create_quote(access=access, price_request=price_request_from(values, "ShipTo"))
    page.option_id = ""


def _proof(page: MailingOrder) -> None:
    try:
        page.make_proof()
    except DomainError as error:
        page.show_errors(error, page.places())


def _order(page: MailingOrder) -> Order:
    access = authorize_store(page.caller, page.store.external_id, WORK)
    return place_staff_order(access=access, request=order_request_from(page.body()))


_BUTTONS = {"prices": _prices, "proof": _proof, "order": _order}
