"""The pages of a product for mailings: choose routes on the map, then order the saved selection."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.admin.staff import staff_on
from accounts.callers import Caller
from accounts.permissions import Permission
from accounts.throttles import enforce_page_limit
from applications.registration.selectors.applications import MYSELF, Requester
from delivery.concurrency_limits import SELECTIONS
from delivery.selection.models import EddmSelection, EddmSelectionRoute
from delivery.selection.pages.chooser import choose_and_save, mailing_context, open_mailing
from delivery.selection.representations import allow_tiles, tiles_context
from delivery.selection.selectors.selections import (
    Differences,
    differences_to_active,
    own_selections,
    routes_of_selection,
)
from fulfillment.core.admin.base import ExtraPage
from fulfillment.core.errors import DomainError, NotFound
from fulfillment.core.http.content_policies import ADMIN_POLICY
from fulfillment.core.recorded_texts import translated
from stores.catalog.models import Product, Store
from stores.orders.models import Order, Quote
from stores.orders.pricing import Option
from stores.orders.request_bodies import price_request_from, read_order_request
from stores.orders.selectors.access import WORK, authorize_store
from stores.orders.selectors.quotes import find_quote, quoted_prices
from stores.orders.selectors.selections import MailingProduct, mailing_product
from stores.orders.services.orders import place_staff_order
from stores.orders.services.quotes import create_quote
from stores.product_pages.address_form import AddressForm
from stores.product_pages.product_form import (
    TEMPLATE_DATA,
    FieldsForm,
    form_fields,
    refuse_unchosen_price,
)
from stores.product_pages.selectors import product_page

# Routes of EDDM are in the United States.
COUNTRY = "US"
SAVED_SHOWN = 5
MAX_LISTED = 500


@dataclass(slots=True, kw_only=True)
class MailingOrder(FieldsForm):
    """Everything the page shows."""

    store: Store
    selection: EddmSelection
    address: AddressForm
    reference: str
    quote: Quote | None = None
    option_id: str = ""
    # The order that has the reference already.
    existing: str = ""

    @property
    def options(self) -> list[Option]:
        return quoted_prices(self.quote).options if self.quote else []

    def body(self) -> dict[str, Any]:
        """The order as the API takes it."""
        item: dict[str, Any] = {
            "ProductID": self.product_id,
            "EddmSelectionID": str(self.selection.pk),
        }
        if self.fields:
            item["TemplateData"] = self.template_data
        values = {name: value for name, value in self.address.values.items() if value}
        body: dict[str, Any] = {"Recipient": {**values, "CountryCode": COUNTRY}, "Items": [item]}
        if self.reference:
            body["ExternalID"] = self.reference
        if self.quote is not None:
            body |= {"QuoteID": str(self.quote.pk), "OptionID": self.option_id}
        return body

    def fail(self, error: DomainError) -> None:
        self.show_field_errors(error, {**self.places(TEMPLATE_DATA), **self.address.places})
        self.existing = str(error.members.get("OrderID", ""))


def open_order(
    request: HttpRequest, *, caller: Caller, product: Product, selection: EddmSelection
) -> MailingOrder:
    """The submitted form; at first with a reference that refuses a second order of the same selection."""
    form_data: Mapping[str, str] | None = request.POST if request.method == "POST" else None
    listed = product_page(caller, product.store.external_id, product.external_id)
    values = form_data or {"reference": f"mailing-{selection.pk}"}
    page = MailingOrder(
        caller=caller,
        product=listed,
        fields=form_fields(listed, form_data),
        store=product.store,
        selection=selection,
        address=AddressForm.of(values, with_contact=True),
        reference=values.get("reference", "").strip(),
        option_id=values.get("option", ""),
        seen_template=values.get("template", ""),
    )
    page.quote = _own_quote(page, values.get("quote", ""))
    if listed.problem:
        page.problems.append(listed.problem)
    return page


def handle_button(request: HttpRequest, page: MailingOrder) -> Order | None:
    """Runs the action of the pressed button, and shows its faults on the page. Returns a placed order."""
    try:
        enforce_page_limit("product-page", page.caller.user_id)
        page.take_files(request.FILES)
        if page.has_errors:
            return None
        return _BUTTONS.get(request.POST.get("do", ""), _load_prices)(page)
    except DomainError as error:
        page.fail(error)
    return None


def _own_quote(page: MailingOrder, quote_id: str) -> Quote | None:
    own = Q(store=page.store.pk, user=page.caller.user_id)
    return find_quote(own, quote_id) if quote_id else None


def _load_prices(page: MailingOrder) -> None:
    access = authorize_store(page.caller, page.store.external_id, WORK)
    item = {"ProductID": page.product_id, "EddmSelectionID": str(page.selection.pk)}
    values = {"Items": [item], "ShipTo": {"CountryCode": COUNTRY}}
    page.quote = create_quote(access=access, price_request=price_request_from(values, "ShipTo"))
    page.option_id = ""


def _make_proof(page: MailingOrder) -> None:
    try:
        page.make_proof()
    except DomainError as error:
        page.show_field_errors(error, page.places())


def _place_order(page: MailingOrder) -> Order:
    access = authorize_store(page.caller, page.store.external_id, WORK)
    page.refuse_changed_template()
    if page.quote is None:
        _load_prices(page)
    refuse_unchosen_price(page.option_id)
    return place_staff_order(access=access, request=read_order_request(page.body()))


_BUTTONS = {"prices": _load_prices, "proof": _make_proof, "order": _place_order}


class ProductMailings:
    """Adds pages to the product admin; for those who may change the orders of the store."""

    def __init__(self, product_admin: Any) -> None:
        self.product_admin = product_admin

    def pages(self) -> list[ExtraPage]:
        return [
            ("<int:product_id>/mailing/", self.choose, "mailing"),
            ("<int:product_id>/mailing/<uuid:selection_id>/", self.order, "mailing_order"),
        ]

    def choose(self, request: HttpRequest, product_id: int) -> HttpResponse:
        product = self._product(request, product_id)
        actor = Requester(MYSELF, "Myself", Caller.on_pages(request.user))
        priced, problem = _find_price(actor.caller, product)
        try:
            page = open_mailing(request, actor=actor, owner=actor, products=[priced] if priced else [])
        except NotFound as error:
            raise Http404(error.message) from error
        page.form.values["product"] = priced.key if priced else ""
        saved = choose_and_save(request, page)
        if saved is not None:
            return redirect("admin:stores_product_mailing_order", product.pk, saved.pk)
        own = EddmSelection.objects.filter(own_selections(actor.caller), expires__gt=timezone.now())
        context = {
            **mailing_context(page),
            "own_product": priced,
            "form_address": reverse("admin:stores_product_mailing", args=[product.pk]),
            "problem": problem,
            "saved": own.order_by("-created")[:SAVED_SHOWN],
        }
        return self._render(
            request, product, "mailing", _("Routes for %(product)s") % {"product": product.name}, context
        )

    def order(self, request: HttpRequest, product_id: int, selection_id: UUID) -> HttpResponse:
        product = self._product(request, product_id)
        caller = Caller.on_pages(request.user)
        # As in the API, operators order only their own selections.
        selection = get_object_or_404(EddmSelection.objects.filter(own_selections(caller)), pk=selection_id)
        try:
            page = open_order(request, caller=caller, product=product, selection=selection)
        except DomainError as error:
            raise Http404(error.message) from error
        if request.method == "POST" and (placed := handle_button(request, page)) is not None:
            return redirect("admin:stores_order_change", placed.pk)
        title = _("Mailing of %(product)s") % {"product": product.name}
        return self._render(request, product, "mailing_order", title, self._mailing_context(page, product))

    def _mailing_context(self, page: MailingOrder, product: Product) -> dict[str, Any]:
        selection = page.selection
        priced, problem = _find_price(page.caller, product)
        routes = list(routes_of_selection(selection)[:MAX_LISTED])
        return {
            **tiles_context(),
            "page": page,
            "selection": selection,
            "is_expired": selection.expires <= timezone.now(),
            "priced": priced,
            "problem": problem,
            "cost": priced.price * selection.pieces if priced else Decimal(0),
            "routes": routes,
            "differences": _find_differences(page, routes),
            "map_routes": reverse("portal:mailing-shapes", args=[selection.pk]),
        }

    def _render(
        self, request: HttpRequest, product: Product, name: str, title: str, context: dict[str, Any]
    ) -> HttpResponse:
        whole = {
            **self.product_admin.page_context(request, title, below=product),
            "product": product,
            **context,
        }
        response = TemplateResponse(request, f"admin/stores/{name}.html", whole)
        allow_tiles(response, ADMIN_POLICY)
        return response

    def _product(self, request: HttpRequest, product_id: int) -> Product:
        """404 for products that are not for EDDM; 403 for those who may not order."""
        found = get_object_or_404(self.product_admin.get_queryset(request), pk=product_id)
        if not found.is_eddm or not found.is_active:
            raise Http404(_("This product cannot be ordered for routes."))
        if not staff_on(request).holds([Permission.ORDER_ALL_WRITE], found.store_id):
            raise PermissionDenied
        product: Product = found
        return product


def _find_differences(page: MailingOrder, routes: list[EddmSelectionRoute]) -> Differences | None:
    """Holds a slot of SELECTIONS, because the counts of up to 5,000 routes are read."""
    try:
        with SELECTIONS.slot(page.caller.key):
            return differences_to_active(page.selection, routes)
    except DomainError as error:
        page.problems.append(translated(error.message))
        return None


def _find_price(caller: Caller, product: Product) -> tuple[MailingProduct | None, str]:
    try:
        return mailing_product(caller, store=product.store, product=product), ""
    except DomainError as error:
        return None, translated(error.message)
