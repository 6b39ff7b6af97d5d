"""The batches that a person sees in the portal: their own, and those of applications that they may change."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.callers import Caller
from accounts.models import User
from accounts.pages.guards import signed_in_user
from applications.registration.selectors.applications import own_applications
from fulfillment.core.errors import Forbidden, NotFound
from stores.batches.models import Batch
from stores.batches.selectors import batch_for, shown_batches
from stores.orders.selectors.access import WRITE, StoreAccess

# Where people meet batches: the portal and the console have the same pages, each with its own addresses and frame.
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


def batches_of_person(user: User) -> QuerySet[Batch]:
    """Newest first."""
    own = Q(user=user, application=None) | Q(user=None, application__in=own_applications(user).values("pk"))
    return shown_batches().filter(own).order_by("-created", "-id")


def open_batch(request: HttpRequest, batch_id: UUID) -> Opened:
    """The batch and the caller who made it; Http404 for one of others, or of a store that is no longer theirs."""
    user = signed_in_user(request)
    found = batches_of_person(user).filter(pk=batch_id).select_related("application").first()
    if found is None:
        raise Http404(_("There is no such batch of yours."))
    application = found.application
    caller = Caller.on_pages(user) if application is None else Caller.of_application(application)
    try:
        return Opened(*batch_for(caller, found.store.external_id, str(batch_id), WRITE))
    except (Forbidden, NotFound) as error:
        raise Http404(error.message) from error


PORTAL = Place("base.html", "portal:batch-", "portal:batch", "portal:batches", open_batch)
