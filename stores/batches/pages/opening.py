"""The batches that a person sees in the portal: their own, and those of applications that they may change."""

from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest

from accounts.callers import Caller
from accounts.models import User
from accounts.pages.guards import signed_in_user
from applications.registration.selectors.applications import own_applications
from fulfillment.core.errors import Forbidden, NotFound
from stores.batches.models import Batch
from stores.batches.places import Opened, Place
from stores.batches.selectors import batch_for, shown_batches
from stores.orders.selectors.access import WRITE


def batches_of_person(user: User) -> QuerySet[Batch]:
    """Newest first."""
    own = Q(user=user, application=None) | Q(user=None, application__in=own_applications(user).values("pk"))
    return shown_batches().filter(own).order_by("-created", "-id")


def open_batch(request: HttpRequest, batch_id: UUID) -> Opened:
    """The batch and the caller who made it; Http404 for one of others, or of a store that is no longer theirs."""
    user = signed_in_user(request)
    found = batches_of_person(user).filter(pk=batch_id).select_related("application").first()
    if found is None:
        raise Http404("There is no such batch of yours.")
    application = found.application
    caller = Caller.on_pages(user) if application is None else Caller.of_application(application)
    try:
        return Opened(*batch_for(caller, found.store.external_id, str(batch_id), WRITE))
    except (Forbidden, NotFound) as error:
        raise Http404(error.message) from error


PORTAL = Place("base.html", "portal:batch-", "portal:batch", "portal:batches", open_batch)
