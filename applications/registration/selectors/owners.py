"""Users with a role on an application: owners with equal rights, and readers."""

from typing import Any
from uuid import UUID

from django.contrib.postgres.aggregates import BoolOr
from django.db.models import Exists, Min, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import AssociationRequest, AssociationState, Role, User
from accounts.permissions import WRITE_GRANTS
from applications.registration.models import Application, InvitationState, OwnerInvitation
from fulfillment.core.errors import NotFound
from fulfillment.core.secrets import digests


def application_people(application: Application, searched: str = "") -> QuerySet[Any]:
    """Users with a role of their own on it, owners first; `is_owner` and `since` are added to each."""
    people = User.objects.filter(roles__application=application, roles__store__isnull=True)
    if searched:
        people = people.filter(
            Q(username__icontains=searched)
            | Q(first_name__icontains=searched)
            | Q(last_name__icontains=searched)
        )
    return (
        people.select_related("tenant")
        .annotate(is_owner=BoolOr(Q(roles__grant__in=WRITE_GRANTS)), since=Min("roles__created"))
        .order_by("-is_owner", "since", "pk")
    )


def owner_ids(application: Application) -> list[UUID]:
    """The application's active owners, the longest-serving first."""
    roles = Role.objects.filter(application=application, store__isnull=True, grant__in=WRITE_GRANTS)
    owners = roles.filter(user__is_active=True).values("user").annotate(since=Min("created"))
    return list(owners.order_by("since", "user").values_list("user", flat=True))


def joining_requests(application: Application) -> QuerySet[AssociationRequest]:
    """Undecided requests of people for a role on it."""
    waiting = AssociationRequest.objects.filter(
        application=application, user__isnull=False, state=AssociationState.PENDING
    )
    return waiting.select_related("user__tenant")


def pending_invitations(application: Application) -> QuerySet[OwnerInvitation]:
    """Unanswered invitations, including expired ones, which can be sent again."""
    return application.owner_invitations.filter(state=InvitationState.PENDING).select_related("invited_by")


def pending_invitation(application: Application, invitation_id: Any) -> OwnerInvitation:
    try:
        return pending_invitations(application).get(pk=UUID(str(invitation_id)))
    except (ValueError, OwnerInvitation.DoesNotExist) as error:
        raise NotFound(
            _("This invitation is closed: it was answered, withdrawn or replaced. Load the page again."),
            code="invitation_not_found",
        ) from error


def get_invitation(token: str, *, lock: bool = False) -> OwnerInvitation:
    """Raises NotFound for a link that was answered, withdrawn, replaced or is too old.

    Also where its sender may not change the application any more.
    """
    invitations = OwnerInvitation.objects.select_related("application__icon", "invited_by").defer(
        "application__icon__image", "application__icon__central_image"
    )
    if lock:
        invitations = invitations.select_for_update(of=("self",))
    roles = Role.objects.filter(
        Q(application=OuterRef("application")) | Q(application__isnull=True),
        user=OuterRef("invited_by"),
        store__isnull=True,
        grant__in=WRITE_GRANTS,
    )
    invitation = invitations.filter(
        Q(invited_by__is_operator=True) | Exists(roles),
        digest__in=digests(token),
        state=InvitationState.PENDING,
        expires__gt=timezone.now(),
        invited_by__is_active=True,
    ).first()
    if invitation is None:
        raise NotFound(_("This invitation no longer works."), code="invitation_not_found")
    return invitation
