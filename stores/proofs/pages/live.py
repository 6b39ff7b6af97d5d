"""The live proof of the start page: as a picture, and as JSON with code examples for scripts."""

import base64
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from fulfillment.core.api.responses import is_unchanged
from fulfillment.core.code_examples import Example, post_examples
from fulfillment.core.errors import DomainError, NotFound
from fulfillment.core.files.downloads import serves_picture
from stores.proofs.selectors.showcase import Showcase, showcase
from stores.proofs.services.live_proofs import (
    LONGEST_NAME,
    USUAL_NAME,
    draw_live_proof,
    live_values,
    tag_of,
)

# The picture of a name changes only with the product, and so does its ETag.
CACHED = "private, max-age=60"


def live_proof(request: HttpRequest) -> dict[str, Any] | None:
    """The context for the start page; None without a demo store with a card."""
    card = showcase()
    if card is None:
        return None
    typed = request.GET.get("name", "")[:LONGEST_NAME]
    name = typed.strip() or USUAL_NAME
    values = live_values(card=card, name=name)
    return {
        "card": card,
        "name": name,
        "typed": typed,
        "longest": LONGEST_NAME,
        "examples": _examples(card, values),
        "height": round(420 * card.height_mm / card.width_mm),
    }


@serves_picture
@require_safe
def show_picture(request: HttpRequest) -> HttpResponse:
    """The picture for an <img>."""
    try:
        _, _, picture = _drawn(request)
    except DomainError as error:
        return _refused(error)
    headers = {"ETag": f'"{tag_of(picture)}"', "Cache-Control": CACHED}
    if is_unchanged(request, headers["ETag"]):
        return HttpResponse(status=304, headers=headers)
    return HttpResponse(picture, content_type="image/png", headers=headers)


@require_safe
def show_live_proof(request: HttpRequest) -> HttpResponse:
    """Picture and code in one response, so that both belong to the same name."""
    try:
        card, values, picture = _drawn(request)
    except DomainError as error:
        return _refused(error)
    content = {
        "Picture": "data:image/png;base64," + base64.b64encode(picture).decode(),
        "Code": {example.language: example.text for example in _examples(card, values)},
    }
    return JsonResponse(content, headers={"Cache-Control": CACHED})


def _drawn(request: HttpRequest) -> tuple[Showcase, dict[str, str], bytes]:
    card = showcase()
    if card is None:
        raise NotFound("There is no demo store to make a proof of.")
    values = live_values(card=card, name=request.GET.get("name", "").strip())
    address = request.META.get("REMOTE_ADDR", "")
    return card, values, draw_live_proof(card=card, values=values, address=address)


def _examples(card: Showcase, values: dict[str, str]) -> list[Example]:
    url = f"{settings.PUBLIC_URL}{settings.API_ROOT}/store/{card.store_id}/product/{card.product.external_id}/proof"
    return post_examples(url, values, result="proof", shown="PageURLs")


def _refused(error: DomainError) -> JsonResponse:
    headers = {"Cache-Control": "no-store"}
    if retry_after := getattr(error, "retry_after", None):
        headers["Retry-After"] = str(retry_after)
    return JsonResponse({"Message": error.message}, status=error.status, headers=headers)
