from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from accounts.callers import Caller
from accounts.models import AssociationRequest, AssociationState, Role
from accounts.selectors.modes import in_mode
from fulfillment.core.errors import Invalid, NotFound


def association_requests_for(caller: Caller, *, state: str | None = None) -> QuerySet[AssociationRequest]:
    """Operators see all; others those they made, those for them, and those of applications they write."""
    requests = AssociationRequest.objects.select_related(
        "application", "store", "user", "requested_by", "decided_by"
    )
    requests = requests.filter(in_mode(caller, "application__is_test"))
    if state:
        requests = requests.filter(state=_known_state(state))
    if caller.is_operator:
        return requests
    if caller.is_application:
        return requests.filter(application=caller.application_id)
    written = Role.objects.filter(
        user=caller.user_id, store__isnull=True, grant__in=("Application.Self.Write", "Application.All.Write")
    ).values("application")
    own = Q(requested_by=caller.user_id) | Q(user=caller.user_id) | Q(application__in=written)
    if caller.third_party_id is not None:
        own &= Q(application=caller.third_party_id)
    return requests.filter(own)


def association_request_for(caller: Caller, request_id: Any, *, lock: bool = False) -> AssociationRequest:
    requests = association_requests_for(caller)
    if lock:
        requests = requests.select_for_update(of=("self",))
    try:
        return requests.get(pk=UUID(str(request_id)))
    except (ValueError, AssociationRequest.DoesNotExist) as error:
        raise NotFound(
            "There is no association request with this ID.", code="association_not_found"
        ) from error


def _known_state(state: str) -> str:
    for known in AssociationState.values:
        if known.lower() == state.lower():
            return known
    allowed = ", ".join(AssociationState.values)
    raise Invalid.at("?state", "state_unknown", f"state is {state!r}; allowed: {allowed}.")
