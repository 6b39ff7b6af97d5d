from collections.abc import Callable
from typing import Any, TypeVar

from django.http import HttpResponse

from fulfillment.core.errors import DomainError

View = TypeVar("View", bound=Callable[..., Any])
WEEK = 604_800


def pdf_answer(content: bytes, name: str) -> HttpResponse:
    disposition = f'attachment; filename="{name}"'
    return HttpResponse(content, content_type="application/pdf", headers={"Content-Disposition": disposition})


def serves_picture(view: View) -> View:
    """Marks a view whose pictures count apart from pages: a list shows dozens of them."""
    view.serves_picture = True  # type: ignore[attr-defined]
    return view


def picture_answer(draw: Callable[[], bytes]) -> HttpResponse:
    """A PNG whose address names its version. An `img` shows no words: a refusal is its status alone."""
    try:
        picture = draw()
    except DomainError as error:
        return picture_refusal(error)
    headers = {"Cache-Control": f"private, max-age={WEEK}, immutable"}
    return HttpResponse(picture, content_type="image/png", headers=headers)


def picture_refusal(error: DomainError) -> HttpResponse:
    """`static/brand/retry-pictures.js` loads the picture again after Retry-After."""
    headers = {"Cache-Control": "no-store"}
    if retry_after := getattr(error, "retry_after", 0):
        headers["Retry-After"] = str(retry_after)
    return HttpResponse(status=error.status, headers=headers)
