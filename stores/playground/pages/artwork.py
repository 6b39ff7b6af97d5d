"""A customer's print-ready PDF on a product: send it, see its pages with trim and bleed, correct it, order it."""

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.pages.guards import signed_in, signed_in_user
from accounts.throttles import enforce_page_limit
from applications.registration.selectors.actors import Actor, chosen_actor
from fulfillment.core.api.parsing import takes_large_forms
from fulfillment.core.code_examples import Example, post_examples
from fulfillment.core.errors import DomainError
from fulfillment.core.files.downloads import picture_answer, serves_picture
from fulfillment.core.http.dangerous import harmless
from printing.documents import MAXIMUM_BYTES
from printing.preflight.findings import has_error, picture_of_page
from stores.catalog.models import Store
from stores.orders.api.requests import price_request_from
from stores.orders.selectors.access import WRITE, authorize_store
from stores.orders.services.quotes import create_quote
from stores.playground.calls import recorded_call
from stores.playground.fields import order_request_from
from stores.playground.pages.prices import PriceForm, price_form
from stores.playground.selectors import ProductPage, actors_at, product_page, store_named
from stores.playground.services import place_trial_order
from stores.proofs.links import proof_urls
from stores.proofs.models import Asset
from stores.proofs.selectors import StoredProof
from stores.proofs.services.artwork import ArtworkChoice, ArtworkMerge, merge_artwork
from stores.proofs.services.documents import add_document, clean_document, pages_of
from stores.proofs.services.proofs import make_artwork_proof

# A size that differs by more is drawn.
DRAWN_MM = 0.3


@dataclass(slots=True, kw_only=True)
class CheckedArtwork:
    """A PDF as it lies on the pages of a product, with what preflight found."""

    merged: ArtworkMerge
    proof: StoredProof
    pages: list[dict[str, Any]]
    pdf: str

    @property
    def asset(self) -> Asset:
        return self.merged.asset

    @property
    def findings(self) -> Any:
        return self.proof.preflight

    @property
    def has_error(self) -> bool:
        return has_error(self.proof.preflight)

    @property
    def has_other_size(self) -> bool:
        return any(one["own"] for one in self.pages)

    @property
    def bleed(self) -> float:
        return self.merged.bleed

    @property
    def first_pages(self) -> list[tuple[int, str]]:
        """Each page of the PDF that may be the first one, with its size."""
        return [
            (number, f"{page.size[0]:.1f} x {page.size[1]:.1f} mm")
            for number, page in enumerate(pages_of(self.asset), 1)
        ]


def check_artwork(
    *, caller: Any, product: ProductPage, choice: ArtworkChoice, picture_root: str
) -> CheckedArtwork:
    """Raises DomainError for a PDF that cannot be laid out; `picture_root` is the address of the pages' pictures."""
    version = product.version
    merged = merge_artwork(caller=caller, product=version, choice=choice)
    proof = make_artwork_proof(caller=caller, product=version, choice=choice)
    pdf = proof_urls(proof, version.external_id).pdf.removeprefix(settings.PUBLIC_URL)
    pages = [_shown_page(merged, proof, number, picture_root) for number in range(version.page_count)]
    return CheckedArtwork(merged=merged, proof=proof, pages=pages, pdf=pdf)


def _shown_page(merged: ArtworkMerge, proof: StoredProof, number: int, root: str) -> dict[str, Any]:
    """The picture with its bleed, the trim of the product, and that of the PDF where it is another one."""
    product, bleed, first = merged.product, merged.bleed, merged.choice.first_page or 1
    width, height = product.width_mm, product.height_mm
    whole = (width + 2 * bleed, height + 2 * bleed)
    shown = (-bleed, -bleed, *whole)
    found = pages_of(merged.asset)
    source = found[first - 1 + number] if first - 1 + number < len(found) else None
    own = None
    if source is not None and _differs(source.size, (width, height), whole):
        x, y = (width - source.size[0]) / 2, (height - source.size[1]) / 2
        own = {
            "x": f"{x:.2f}",
            "y": f"{y:.2f}",
            "width": f"{source.size[0]:.2f}",
            "height": f"{source.size[1]:.2f}",
        }
    outside = "M{0:.2f} {0:.2f}h{1:.2f}v{2:.2f}h-{1:.2f}z".format(-bleed, shown[2], shown[3])
    return {
        "url": f"{root}/{merged.asset.pk}/{first}-{number}.png",
        "number": first + number,
        "is_there": source is not None,
        "picture": picture_of_page(proof.preflight, number + 1, shown),
        "bleed": f"{outside}M0 0v{height:.2f}h{width:.2f}v-{height:.2f}z",
        "trim": {"width": f"{width:.2f}", "height": f"{height:.2f}"},
        "own": own,
    }


def _differs(size: tuple[float, float], *sizes: tuple[float, float]) -> bool:
    return not any(max(abs(size[0] - one[0]), abs(size[1] - one[1])) < DRAWN_MM for one in sizes)


@dataclass(slots=True, kw_only=True)
class ArtworkForm:
    """Everything the page shows."""

    request: HttpRequest
    store: Store
    actors: list[Actor]
    actor: Actor
    product: ProductPage
    price: PriceForm
    choice: ArtworkChoice | None
    problems: list[str] = field(default_factory=list)
    checked: CheckedArtwork | None = None
    status: int = 200

    @property
    def product_id(self) -> str:
        return self.product.version.external_id

    @property
    def address(self) -> str:
        return reverse("portal:artwork", args=[self.store.external_id, self.product_id])

    @property
    def can_order(self) -> bool:
        may = self.store.is_demo or any(actor.caller.is_test for actor in self.actors)
        return may and self.checked is not None and not self.checked.has_error

    def fail(self, error: DomainError) -> None:
        self.problems += [fault.message for fault in error.faults] or [error.message]
        if getattr(error, "retry_after", 0):
            self.status = error.status

    def check(self) -> None:
        if self.choice is None:
            return
        with self.recorded("artwork_create"):
            self.checked = check_artwork(
                caller=self.actor.caller, product=self.product, choice=self.choice, picture_root=self.address
            )

    def recorded(self, operation_id: str) -> AbstractContextManager[None]:
        return recorded_call(self.request, self.actor.caller, self.store, operation_id)

    def examples(self) -> dict[str, list[Example]]:
        root = f"{settings.PUBLIC_URL}{settings.API_ROOT}/store/{self.store.external_id}"
        if self.choice is None:
            return {}
        sent = self.choice.record()
        address = f"{root}/product/{self.product_id}/artwork"
        order = self.price.order_body(self.product_id, None, artwork=sent)
        return {
            "check": post_examples(address, sent, result="proof", shown="Preflight"),
            "order": post_examples(f"{root}/order", order, result="order", shown="OrderNumber"),
        }


@harmless
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def show_artwork(request: HttpRequest, store_id: str, product_id: str) -> HttpResponse:
    page = _opened(request, store_id, product_id)
    try:
        if page.choice is not None:
            enforce_page_limit("playground", signed_in_user(request).pk)
        page.check()
        action = _ACTIONS.get(request.POST.get("do", ""))
        if action is not None and page.price.is_valid():
            placed = action(request, page)
            if placed is not None:
                return placed
    except DomainError as error:
        page.fail(error)
    return _answer(request, page)


@harmless
@require_POST
@signed_in
@takes_large_forms
def add_artwork(request: HttpRequest, store_id: str, product_id: str) -> HttpResponse:
    """Takes the PDF and leads to its check, so that reloading the page sends nothing twice."""
    page = _opened(request, store_id, product_id)
    file = request.FILES.get("file")
    try:
        enforce_page_limit("playground", signed_in_user(request).pk)
        if file is None:
            page.problems.append("Choose a PDF first.")
            return _answer(request, page)
        caller = page.actor.caller
        with page.recorded("asset_create"):
            document = clean_document(caller=caller, content=file.read(MAXIMUM_BYTES + 1))
            asset = add_document(caller=caller, store_id=page.product.version.store_id, document=document)
    except DomainError as error:
        page.fail(error)
        return _answer(request, page)
    return redirect(f"{page.address}?{urlencode({'as': page.actor.key, 'asset': str(asset.pk)})}")


@serves_picture
@require_safe
@signed_in
def show_artwork_page(
    request: HttpRequest, store_id: str, product_id: str, asset_id: str, first_page: int, number: int
) -> HttpResponse:
    page = _opened(request, store_id, product_id)
    choice = ArtworkChoice.from_record({"AssetID": asset_id, "FirstPage": first_page})

    def draw() -> bytes:
        return merge_artwork(caller=page.actor.caller, product=page.product.version, choice=choice).picture(
            number
        )

    return picture_answer(draw)


def _opened(request: HttpRequest, store_id: str, product_id: str) -> ArtworkForm:
    sent = request.POST if request.method == "POST" else None
    values = request.GET if sent is None else sent
    store = store_named(store_id)
    actors = actors_at(signed_in_user(request), store)
    actor = chosen_actor(actors, values.get("as", ""))
    product = product_page(actor.caller, store.external_id, product_id)
    first = values.get("first", "")
    record: dict[str, Any] = {"AssetID": values.get("asset", "")[:64]}
    if first.isascii() and first.isdigit():
        record["FirstPage"] = int(first[:4])
    return ArtworkForm(
        request=request,
        store=store,
        actors=actors,
        actor=actor,
        product=product,
        price=price_form(product.record, sent),
        choice=ArtworkChoice.from_record(record) if record["AssetID"] else None,
    )


def _answer(request: HttpRequest, page: ArtworkForm) -> HttpResponse:
    context = {"page": page, "code": page.examples(), "part": "catalog"}
    return render(request, "stores/playground/artwork.html", context, status=page.status)


def _quote(request: HttpRequest, page: ArtworkForm) -> None:
    try:
        with page.recorded("quote_create"):
            access = authorize_store(page.actor.caller, page.store.external_id, WRITE)
            price_request = price_request_from(page.price.quote_body(page.product_id))
            page.price.quote = create_quote(access=access, price_request=price_request)
    except DomainError as error:
        page.problems += page.price.show_errors(error)


def _order(request: HttpRequest, page: ArtworkForm) -> HttpResponse | None:
    if page.choice is None:
        return None
    body = page.price.order_body(page.product_id, None, artwork=page.choice.record())
    with page.recorded("order_create"):
        access = authorize_store(page.actor.caller, page.store.external_id, WRITE)
        order = place_trial_order(access=access, request=order_request_from(body))
    if page.actor.caller.application_id is None:
        messages.success(request, f"Order {order.number} is placed.")
        return redirect(page.address)
    return redirect("portal:application-order", page.actor.caller.application_id, order.pk)


_ACTIONS = {"quote": _quote, "order": _order}
