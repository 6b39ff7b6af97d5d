"""The EDDM selections that a product may be ordered for on its page."""

from collections.abc import Iterable

from django.utils import timezone

from accounts.callers import Caller
from accounts.selectors.modes import in_mode_of_new
from applications.registration.selectors.actors import Actor
from delivery.selection.models import EddmSelection
from delivery.selection.selectors.selections import own_selections
from fulfillment.core.text import parse_uuid

MAX_LISTED = 10


def orderable_selections(caller: Caller, selection_id: str = "") -> list[EddmSelection]:
    """The caller's latest valid selections, and the named one of any age if it is the caller's."""
    valid = (
        EddmSelection.objects.filter(
            own_selections(caller) & in_mode_of_new(caller), expires__gt=timezone.now()
        )
        .defer("criteria")
        .order_by("-created")
    )
    latest = list(valid[:MAX_LISTED])
    key = parse_uuid(selection_id)
    if key is not None and all(one.pk != key for one in latest):
        latest = [*valid.filter(pk=key), *latest]
    return latest


def owner_among(actors: Iterable[Actor], selection_id: str) -> str:
    """The key of the actor who owns the selection; empty if none of them does."""
    key = parse_uuid(selection_id)
    owners = EddmSelection.objects.filter(pk=key).values_list("application_id", "user_id") if key else []
    for application_id, user_id in owners:
        for actor in actors:
            caller = actor.caller
            if (caller.application_id, caller.user_id) == (application_id, user_id):
                return actor.key
    return ""
