"""The page of a product: fill in its fields, see the proof, request a price.

One form with several buttons, so that all of it works without script; the script sends the same form and takes the
parts it needs out of the answer.
"""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.pages.guards import signed_in_form, signed_in_post, signed_in_user
from accounts.rate_limits import enforce_limit
from accounts.throttles import enforce_page_limit
from applications.registration.selectors.applications import Requester, chosen_actor
from fulfillment.core.api.parsing import takes_large_forms
from fulfillment.core.code_examples import Example, post_examples
from fulfillment.core.errors import DomainError, Forbidden, TooManyRequests
from fulfillment.core.files.downloads import picture_refusal, serves_picture
from fulfillment.core.http.dangerous import harmless
from fulfillment.core.recorded_texts import translated
from stores.budgets.representations import gauge_of
from stores.budgets.selectors.standings import standings_of_caller
from stores.catalog.models import Store
from stores.orders.request_bodies import read_order_request
from stores.orders.selectors.access import WRITE, StoreAccess, authorize_store
from stores.orders.selectors.approvals import approver_names
from stores.orders.services.own_orders import place_own_order
from stores.product_pages.address_form import AddressForm
from stores.product_pages.pages.prices import PricedForm, PriceForm, make_price_form
from stores.product_pages.product_form import (
    TEMPLATE_DATA,
    FieldsForm,
    form_fields,
    refuse_unchosen_price,
)
from stores.product_pages.selectors import (
    ProductPage,
    actors_at,
    find_owner,
    orderable_selections,
    product_page,
    store_named,
    values_of_item,
)
from stores.proofs.links import asset_url
from stores.proofs.models import Asset
from stores.proofs.services.live_proofs import draw_draft


@dataclass(kw_only=True)
class OrderableForm(FieldsForm, PricedForm):
    """Everything the page shows."""

    # For a person who may order from the store; what is ordered is produced.
    access: StoreAccess | None = None
    address: AddressForm = field(default_factory=AddressForm)
    chosen_option: str = ""
    # Names the form: one that is sent twice orders once.
    form_name: str = ""
    retry_after: int = 0

    def add_picture(self, file: UploadedFile) -> Asset:
        with self.recorded("asset_create"):
            return super().add_picture(file)

    def make_proof(self) -> None:
        with self.recorded("proof_create"):
            super().make_proof()

    def order_body(self, address: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The order with the price that is chosen in the table, else by the usual delivery."""
        values = self.template_data if self.fields else None
        body = self.price.order_body(self.product_id, values, address)
        quote_id, _, option_id = self.chosen_option.partition("/")
        return body | ({"QuoteID": quote_id, "OptionID": option_id} if option_id else {})

    @property
    def can_start(self) -> bool:
        """Whether the script may render a proof at once: no required picture is missing."""
        missing = any(
            form_field.control == "picture" and form_field.record["Required"] and not form_field.value
            for form_field in self.fields
        )
        return self.product.can_be_proofed and self.proof is None and not missing

    @property
    def can_order(self) -> bool:
        return self.access is None and self.tries_orders

    @property
    def chooses(self) -> bool:
        """Whether an order is placed here, at the price that is chosen in the table."""
        return self.access is not None or self.can_order

    @property
    def approvers(self) -> list[str]:
        return approver_names(self.store.pk, [self.actor.caller.user_id]) if self.actor.caller.user_id else []

    @property
    def budgets(self) -> list[dict[str, Any]]:
        """What is left for the person who may order."""
        if self.access is None:
            return []
        standings = standings_of_caller(self.actor.caller, store=self.store, moment=timezone.now())
        return [gauge_of(standing) for standing in standings]

    def fail(self, error: DomainError, *, root: str = "") -> None:
        self.show_field_errors(error, self.places(root))
        self.retry_after = getattr(error, "retry_after", 0)
        if self.retry_after:
            self.status = error.status

    def examples(self) -> dict[str, list[Example]]:
        """The API requests that correspond to the buttons of the page, with the values of the form."""
        root = f"{settings.PUBLIC_URL}{settings.API_ROOT}/store/{self.store.external_id}"
        values = self.template_data
        examples = {}
        if self.product.can_be_proofed:
            address = f"{root}/product/{self.product_id}/proof{'?proof=press' if self.in_print else ''}"
            examples["proof"] = post_examples(address, values, result="proof", shown="PageURLs")
        examples["quote"] = post_examples(
            f"{root}/quote", self.price.quote_body(self.product_id), result="quote", shown="Options"
        )
        order = self.price.order_body(self.product_id, values if self.fields else None)
        examples["order"] = post_examples(f"{root}/order", order, result="order", shown="OrderNumber")
        return examples


@signed_in_form(harmless)
@takes_large_forms
def show_product(request: HttpRequest, store_id: str, product_id: str) -> HttpResponse:
    page = _make_form(request, store_id, product_id)
    if request.method == "POST":
        try:
            enforce_page_limit("product-page", signed_in_user(request).pk)
            page.take_files(request.FILES)
            if not page.has_errors:
                placed = _ACTIONS.get(request.POST.get("do", ""), OrderableForm.make_proof)(page)
                if placed is not None:
                    return placed
        except DomainError as error:
            page.fail(error)
    context = {"page": page, "code": page.examples(), "part": "catalog"}
    response = render(request, "stores/product_pages/product.html", context, status=page.status)
    if page.retry_after:
        response["Retry-After"] = str(page.retry_after)
    return response


@signed_in_post(harmless)
@takes_large_forms
def add_picture(request: HttpRequest, store_id: str, product_id: str) -> HttpResponse:
    """A picture that the page has cropped; the answer names it for the form."""
    page = _make_form(request, store_id, product_id)
    file = request.FILES.get("file")
    try:
        enforce_page_limit("product-page", signed_in_user(request).pk)
        asset = page.add_picture(file) if file else None
    except DomainError as error:
        return JsonResponse({"Message": translated(error.message)}, status=200)
    if asset is None:
        return JsonResponse({"Message": _("Choose a picture first.")})
    address = asset_url(asset).removeprefix(settings.PUBLIC_URL)
    return JsonResponse(
        {"AssetID": str(asset.pk), "Width": asset.width, "Height": asset.height, "URL": address}
    )


@serves_picture
@signed_in_post(harmless)
@takes_large_forms
def show_draft(request: HttpRequest, store_id: str, product_id: str) -> HttpResponse:
    """The pages that show the input named `typed`."""
    try:
        enforce_limit("drafts", signed_in_user(request).pk, quota=settings.DRAFTS_PER_MINUTE)
    except TooManyRequests as error:
        return picture_refusal(error)
    page = _make_form(request, store_id, product_id)
    typed = request.POST.get("typed", "")
    try:
        drawn = draw_draft(
            caller=page.caller,
            product=page.product.version,
            values=page.template_data,
            field=next((form_field.name for form_field in page.fields if form_field.input_name == typed), ""),
        )
    except DomainError as error:
        if getattr(error, "retry_after", 0):
            return picture_refusal(error)
        # The proof that follows says what is wrong.
        drawn = {}
    pages = {number: f"data:image/png;base64,{b64encode(png).decode()}" for number, png in drawn.items()}
    return JsonResponse({"Pages": pages}, headers={"Cache-Control": "no-store"})


def _make_form(request: HttpRequest, store_id: str, product_id: str) -> OrderableForm:
    form_data: Mapping[str, str] | None = request.POST if request.method == "POST" else None
    store = store_named(store_id)
    actors = actors_at(signed_in_user(request), store)
    if again := request.GET.get("again"):
        form_data = form_data or values_of_item(signed_in_user(request), again, product_id)
    values = request.GET if form_data is None else form_data
    selection_id = values.get("selection", "")
    actor = chosen_actor(actors, values.get("as", "") or find_owner(actors, selection_id))
    product = product_page(actor.caller, store.external_id, product_id)
    page = OrderableForm(
        request=request,
        store=store,
        actors=actors,
        actor=actor,
        caller=actor.caller,
        product=product,
        fields=form_fields(product, form_data),
        price=_price_form(product, actor, form_data, selection_id),
    )
    page.in_print = bool(form_data and form_data.get("press"))
    page.access = _live_access(actor, store)
    page.address = AddressForm.of(values)
    page.chosen_option = values.get("option", "")
    page.price.chosen = page.chosen_option.partition("/")[2]
    page.form_name = values.get("form", "")[:64] or str(uuid4())
    page.seen_template = values.get("template", "")
    if product.problem:
        page.problems.append(product.problem)
    return page


def _live_access(actor: Requester, store: Store) -> StoreAccess | None:
    """The access to order; None if an application is chosen, at the demo store, and for people who may not order."""
    if store.is_demo or actor.caller.application_id is not None:
        return None
    try:
        return authorize_store(actor.caller, store.external_id, WRITE)
    except Forbidden:
        return None


def _price_form(
    product: ProductPage, actor: Requester, values: Mapping[str, str] | None, selection_id: str
) -> PriceForm:
    if not product.record.get("IsEddm"):
        return make_price_form(product.record, values)
    selections = orderable_selections(actor.caller, selection_id)
    return make_price_form(product.record, values, selections=selections, selection_id=selection_id)


def _order_as_test(page: OrderableForm) -> HttpResponse | None:
    try:
        return page.order_as_test(page.order_body())
    except DomainError as error:
        page.fail(error, root=TEMPLATE_DATA)
        return None


def _order_live(page: OrderableForm) -> HttpResponse | None:
    if page.access is None or not page.price.is_valid():
        return None
    body = page.order_body(page.address.values)
    try:
        page.refuse_changed_template()
        refuse_unchosen_price(page.price.chosen)
        with page.recorded("order_create"):
            request = read_order_request(body)
            order, is_new = place_own_order(access=page.access, request=request, form=page.form_name)
    except DomainError as error:
        page.fail(error, root=TEMPLATE_DATA)
        page.problems = page.address.take_errors(error, page.problems)
        page.show_prices()
        return None
    placed, shown = _("Order %(number)s is placed."), "portal:order"
    if order.approval:
        placed, shown = _("Order %(number)s is placed and needs approval."), "portal:approval"
    if not is_new:
        placed = _(
            "Order %(number)s was placed with this form before. To order again, open the product again."
        )
    messages.success(page.request, placed % {"number": order.number})
    return redirect(shown, order.pk)


_ACTIONS = {
    "buy": _order_live,
    "proof": OrderableForm.make_proof,
    "quote": OrderableForm.show_prices,
    "order": _order_as_test,
}
