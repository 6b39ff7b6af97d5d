"""Where people meet batches: the portal and the console have the same pages, each with its own addresses and frame."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from accounts.callers import Caller
from stores.batches.models import Batch
from stores.orders.selectors.access import StoreAccess

PAGES = ("rows", "mapping", "check", "order", "cancel", "row", "sheet", "template", "file")


class Opened(NamedTuple):
    access: StoreAccess
    batch: Batch

    @property
    def caller(self) -> Caller:
        return self.access.caller


@dataclass(frozen=True)
class Place:
    """`urls` has the names of addresses by page. `open` raises Http404 for batches that the person may not change.

    `heading` is the element of a page's title: the console's frame has an `h1` of its own.
    """

    frame: str
    prefix: str
    show: str
    listed: str
    open: Callable[[HttpRequest, UUID], Opened]
    context: Callable[[HttpRequest], dict[str, Any]] = field(default=lambda request: {"part": "catalog"})
    heading: str = "h1"

    @property
    def urls(self) -> dict[str, str]:
        own = {page: f"{self.prefix}{page}" for page in PAGES}
        return {**own, "show": self.show, "list": self.listed}

    def render(self, request: HttpRequest, name: str, /, **context: Any) -> HttpResponse:
        own = {**self.context(request), "frame": self.frame, "heading": self.heading, "urls": self.urls}
        if batch := context.get("batch"):
            own |= {"back_to": reverse(self.show, args=[batch.pk]), "object": batch}
        return render(request, f"stores/batches/{name}.html", {**own, **context})

    def lead_to(self, page: str, batch_id: UUID) -> HttpResponse:
        return redirect(self.urls[page], batch_id)
