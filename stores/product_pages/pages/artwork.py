"""A customer's print-ready PDF on a product: send it, see its pages with trim and bleed, correct it, order it."""

from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from accounts.pages.guards import signed_in_form, signed_in_page, signed_in_post, signed_in_user
from accounts.throttles import enforce_page_limit
from applications.registration.selectors.applications import chosen_actor
from fulfillment.core.api.parsing import takes_print_files
from fulfillment.core.code_examples import Example, post_examples
from fulfillment.core.errors import DomainError
from fulfillment.core.files.downloads import picture_response, serves_picture
from fulfillment.core.http.dangerous import harmless
from stores.product_pages.checked_artwork import CheckedArtwork, check_artwork, read_artwork_choice
from stores.product_pages.pages.prices import PricedForm, make_price_form
from stores.product_pages.selectors import actors_at, product_page, store_named
from stores.proofs.services.artwork import ArtworkChoice, merge_artwork
from stores.proofs.services.assets import receive_document


@dataclass(kw_only=True)
class ArtworkForm(PricedForm):
    """Everything the page shows."""

    choice: ArtworkChoice | None
    checked: CheckedArtwork | None = None

    @property
    def address(self) -> str:
        return reverse("portal:artwork", args=[self.store.external_id, self.product_id])

    @property
    def can_order(self) -> bool:
        return self.tries_orders and self.checked is not None and not self.checked.has_error

    def fail(self, error: DomainError) -> None:
        self.problems += error.messages
        if getattr(error, "retry_after", 0):
            self.status = error.status

    def check(self) -> None:
        if self.choice is None:
            return
        with self.recorded("artwork_create"):
            self.checked = check_artwork(
                caller=self.actor.caller, product=self.product, choice=self.choice, picture_root=self.address
            )

    def examples(self) -> dict[str, list[Example]]:
        root = f"{settings.PUBLIC_URL}{settings.API_ROOT}/store/{self.store.external_id}"
        if self.choice is None:
            return {}
        values = self.choice.record()
        address = f"{root}/product/{self.product_id}/artwork"
        order = self.price.order_body(self.product_id, None, artwork=values)
        return {
            "check": post_examples(address, values, result="proof", shown="Preflight"),
            "order": post_examples(f"{root}/order", order, result="order", shown="OrderNumber"),
        }


@signed_in_form(harmless)
def show_artwork(request: HttpRequest, store_id: str, product_id: str) -> HttpResponse:
    page = _make_form(request, store_id, product_id)
    try:
        if page.choice is not None:
            enforce_page_limit("product-page", signed_in_user(request).pk)
        page.check()
        action = _ACTIONS.get(request.POST.get("do", ""))
        if action is not None and (placed := action(page)) is not None:
            return placed
    except DomainError as error:
        page.fail(error)
    return _render_page(request, page)


@signed_in_post(harmless)
@takes_print_files
def add_artwork(request: HttpRequest, store_id: str, product_id: str) -> HttpResponse:
    """Takes the PDF and leads to its check, so that reloading the page sends nothing twice."""
    page = _make_form(request, store_id, product_id)
    file = request.FILES.get("file")
    try:
        enforce_page_limit("product-page", signed_in_user(request).pk)
        if file is None:
            page.problems.append(_("Choose a PDF first."))
            return _render_page(request, page)
        caller = page.actor.caller
        with page.recorded("asset_create"):
            asset = receive_document(caller=caller, store_id=page.product.version.store_id, file=file)
    except DomainError as error:
        page.fail(error)
        return _render_page(request, page)
    return redirect(f"{page.address}?{urlencode({'as': page.actor.key, 'asset': str(asset.pk)})}")


@serves_picture
@signed_in_page
def show_artwork_page(
    request: HttpRequest, store_id: str, product_id: str, asset_id: str, first_page: int, number: int
) -> HttpResponse:
    page = _make_form(request, store_id, product_id)
    choice = ArtworkChoice.from_record({"AssetID": asset_id, "FirstPage": first_page})

    def draw() -> bytes:
        return merge_artwork(caller=page.actor.caller, product=page.product.version, choice=choice).picture(
            number
        )

    return picture_response(draw)


def _make_form(request: HttpRequest, store_id: str, product_id: str) -> ArtworkForm:
    form_data = request.POST if request.method == "POST" else None
    values = request.GET if form_data is None else form_data
    store = store_named(store_id)
    actors = actors_at(signed_in_user(request), store)
    actor = chosen_actor(actors, values.get("as", ""))
    product = product_page(actor.caller, store.external_id, product_id)
    return ArtworkForm(
        request=request,
        store=store,
        actors=actors,
        actor=actor,
        product=product,
        price=make_price_form(product.record, form_data),
        choice=read_artwork_choice(values),
    )


def _render_page(request: HttpRequest, page: ArtworkForm) -> HttpResponse:
    context = {"page": page, "code": page.examples(), "part": "catalog"}
    return render(request, "stores/product_pages/artwork.html", context, status=page.status)


def _place_order(page: ArtworkForm) -> HttpResponse | None:
    if page.choice is None:
        return None
    return page.order_as_test(page.price.order_body(page.product_id, None, artwork=page.choice.record()))


_ACTIONS: dict[str, Callable[[ArtworkForm], HttpResponse | None]] = {
    "quote": PricedForm.show_prices,
    "order": _place_order,
}
