"""The order form of a saved selection: the same request, checks and errors as an order over the API."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.http import HttpRequest
from rest_framework.exceptions import ValidationError

from accounts.callers import Caller
from accounts.throttles import enforce_page_limit
from delivery.selection.models import EddmSelection
from fulfillment.core.api.serializers import validate_data
from fulfillment.core.errors import DomainError
from printing.preflight.marks import picture_of_page
from stores.catalog.models import Product
from stores.orders.api.requests import order_request_of, price_request_from
from stores.orders.api.serializers import OrderRequestSerializer
from stores.orders.models import Order, Quote
from stores.orders.pricing import Option
from stores.orders.selectors.access import WORK, authorize_store
from stores.orders.selectors.quotes import find_quote, quoted_options
from stores.orders.services.quotes import create_quote
from stores.playground.fields import FormField, chosen_files, form_fields, show_errors, template_data
from stores.playground.selectors.products import ProductPage, product_page
from stores.playground.services.orders import place_staff_order
from stores.proofs.services.assets import MAXIMUM_BYTES, add_asset, clean_picture
from stores.proofs.services.proofs import make_proof
from stores.proofs.signed_urls import proof_urls

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
TEMPLATE_DATA = "/Items/0/TemplateData"


@dataclass(slots=True)
class RecipientField:
    name: str
    label: str
    is_required: bool
    autocomplete: str
    value: str = ""
    errors: list[str] = field(default_factory=list)


@dataclass(slots=True)
class MailingOrder:
    """Everything the page shows."""

    caller: Caller
    product: Product
    selection: EddmSelection
    listed: ProductPage
    fields: list[FormField]
    recipient: list[RecipientField]
    reference: str
    quote: Quote | None = None
    option_id: str = ""
    problems: list[str] = field(default_factory=list)
    # The order that has the reference already.
    existing: str = ""
    proof: dict[str, Any] | None = None

    @property
    def options(self) -> list[Option]:
        return list(quoted_options(self.quote).values()) if self.quote else []

    def body(self) -> dict[str, Any]:
        """The order as the API takes it."""
        item: dict[str, Any] = {
            "ProductID": self.product.external_id,
            "EddmSelectionID": str(self.selection.pk),
        }
        if self.fields:
            item["TemplateData"] = template_data(self.fields)
        sent = {one.name: one.value for one in self.recipient if one.value}
        body: dict[str, Any] = {"Recipient": {**sent, "CountryCode": COUNTRY}, "Items": [item]}
        if self.reference:
            body["ExternalID"] = self.reference
        if self.quote is not None and self.option_id:
            body |= {"QuoteID": str(self.quote.pk), "OptionID": self.option_id}
        return body

    def fail(self, error: DomainError) -> None:
        named = {f"/Recipient/{one.name}": one for one in self.recipient}
        others = []
        for fault in error.faults:
            if (one := named.get(fault.pointer)) is not None:
                one.errors.append(fault.message)
            else:
                others.append(fault)
        if others or not error.faults:
            rest = DomainError(error.message, faults=others)
            self.problems += show_errors(self.fields, rest, TEMPLATE_DATA)
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
        caller,
        product,
        selection,
        listed,
        form_fields(listed, sent),
        recipient,
        values.get("reference", "").strip(),
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
        _take_files(request, page)
        if any(one.errors for one in page.fields):
            return None
        return _BUTTONS.get(request.POST.get("do", ""), _prices)(page)
    except ValidationError as error:
        _show_details(page, error.detail)
    except DomainError as error:
        page.fail(error)
    return None


def _own_quote(page: MailingOrder, quote_id: str) -> Quote | None:
    own = Q(store=page.product.store_id, user=page.caller.user_id)
    return find_quote(own, quote_id) if quote_id else None


def _prices(page: MailingOrder) -> None:
    access = authorize_store(page.caller, page.product.store.external_id, WORK)
    item = {"ProductID": page.product.external_id, "EddmSelectionID": str(page.selection.pk)}
    values = {"Items": [item], "ShipTo": {"CountryCode": COUNTRY}}
    page.quote = create_quote(access=access, price_request=price_request_from(values, "ShipTo"))
    page.option_id = ""


def _proof(page: MailingOrder) -> None:
    proof = make_proof(
        caller=page.caller, product=page.listed.version, values=template_data(page.fields), in_print=False
    )
    urls = proof_urls(proof, page.product.external_id)
    own = [url.removeprefix(settings.PUBLIC_URL) for url in urls.pages]
    page.proof = {
        "pages": [
            {"url": url, "picture": picture_of_page(proof.preflight, number, (0, 0, *size))}
            for number, (url, size) in enumerate(zip(own, page.listed.sizes, strict=True), 1)
        ],
        "pdf": urls.pdf.removeprefix(settings.PUBLIC_URL),
        "findings": proof.preflight,
    }


def _order(page: MailingOrder) -> Order:
    access = authorize_store(page.caller, page.product.store.external_id, WORK)
    body = page.body()
    request = order_request_of(validate_data(OrderRequestSerializer, body))
    return place_staff_order(access=access, request=request)


_BUTTONS = {"prices": _prices, "proof": _proof, "order": _order}


def _take_files(request: HttpRequest, page: MailingOrder) -> None:
    for name, file in chosen_files(page.fields, request.FILES).items():
        [one] = [one for one in page.fields if one.name == name]
        try:
            picture = clean_picture(caller=page.caller, content=file.read(MAXIMUM_BYTES + 1))
            asset = add_asset(caller=page.caller, store_id=page.product.store_id, picture=picture)
            one.value = str(asset.pk)
        except DomainError as error:
            one.errors.append(error.message)


def _show_details(page: MailingOrder, details: Any) -> None:
    """Faults of the request's form: those of the recipient beside their fields."""
    named = {one.name: one for one in page.recipient}
    details = details if isinstance(details, Mapping) else {"": details}
    for name, detail in details.items():
        if name == "Recipient" and isinstance(detail, Mapping):
            for member, texts in detail.items():
                place = named[member].errors if member in named else page.problems
                place += [str(text) for text in texts]
        else:
            page.problems += [f"{name}: {text}" for text in _texts(detail)]


def _texts(detail: Any) -> list[str]:
    if isinstance(detail, Mapping):
        return [text for one in detail.values() for text in _texts(one)]
    if isinstance(detail, list):
        return [text for one in detail for text in _texts(one)]
    return [str(detail)]
