"""Requests for access to a store that a caller may see, and what helps to decide on them."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from accounts.callers import Caller, in_mode
from accounts.models import AssociationRequest, AssociationState, Role, User
from accounts.permissions import WRITE_GRANTS
from fulfillment.core.errors import NotFound

MAX_SHOWN = 5
MAX_OPERATORS = 50
# Texts that no list of requests shows: those of 1,000 requests could take 200 MB.
LARGE = (
    "application__description",
    "application__redirect_uris",
    "store__description",
    "store__rendering",
    "store__verbose_rendering",
)


def association_requests_for(
    caller: Caller, *, state: AssociationState | None = None
) -> QuerySet[AssociationRequest]:
    """Operators see all requests; users their own, and those of applications they may change."""
    requests = AssociationRequest.objects.select_related(
        "application", "store", "user", "requested_by", "decided_by"
    ).defer(*LARGE)
    requests = requests.filter(in_mode(caller, "application__is_test"))
    if state:
        requests = requests.filter(state=state)
    if caller.is_operator:
        return requests
    if caller.is_application:
        return requests.filter(application=caller.application_id)
    writable = Role.objects.filter(user=caller.user_id, store__isnull=True, grant__in=WRITE_GRANTS).values(
        "application"
    )
    own = Q(requested_by=caller.user_id) | Q(user=caller.user_id) | Q(application__in=writable)
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
            _("There is no association request with this ID."), code="association_not_found"
        ) from error


@dataclass(frozen=True, slots=True)
class Applicant:
    """Facts about the requesting application, for the decision."""

    owners: list[User]
    stores: list[Any]
    has_more_stores: bool
    before: list[AssociationRequest]


def get_applicant(association_request: AssociationRequest) -> Applicant:
    """The owners, the associated stores, and earlier decisions on the same relationship."""
    of_application = Role.objects.filter(application=association_request.application_id)
    people = Q(pk=association_request.application.user_id) | Q(
        pk__in=of_application.filter(store__isnull=True, user__isnull=False, grant__in=WRITE_GRANTS).values(
            "user"
        )
    )
    joined = of_application.filter(store__isnull=False, user__isnull=True)
    store_model: Any = AssociationRequest._meta.get_field("store").related_model
    stores = store_model.objects.filter(pk__in=joined.values("store")).order_by("company_name")
    first_stores = list(stores.only("company_name", "external_id")[: MAX_SHOWN + 1])
    decided = AssociationRequest.objects.filter(
        application=association_request.application_id,
        store=association_request.store_id,
        user=association_request.user_id,
        decided__isnull=False,
    ).select_related("decided_by__tenant")
    return Applicant(
        owners=list(User.objects.filter(people).select_related("tenant").order_by("created")[:MAX_SHOWN]),
        stores=first_stores[:MAX_SHOWN],
        has_more_stores=len(first_stores) > MAX_SHOWN,
        before=list(decided.order_by("-decided")[:MAX_SHOWN]),
    )


def operators_to_inform() -> list[User]:
    """Operators with a confirmed address; others might belong to someone else."""
    operators = User.objects.filter(is_operator=True, is_active=True, email_confirmed__isnull=False)
    return list(operators.exclude(email="").select_related("tenant").order_by("created")[:MAX_OPERATORS])
