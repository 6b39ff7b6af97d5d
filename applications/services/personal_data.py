from collections.abc import Iterator
from typing import Any

import pgtrigger
from django.db.models import Q
from oauth2_provider.models import AccessToken

from accounts.callers import Caller
from accounts.models import Role, User
from applications.models import Application, OwnerInvitation
from applications.services.authorizations import end_everything_of_user, end_tokens_of_application
from applications.services.owners import remove_person
from fulfillment.erasure import ERASED
from fulfillment.personal_data import PersonalData, Record
from fulfillment.serializers import timestamp


def personal_data() -> list[PersonalData]:
    return [
        PersonalData("applications", _applications),
        PersonalData("authorizations", _authorizations, lambda user: end_everything_of_user(user=user)),
        PersonalData("owner_invitations", _invitations, _erase_invitations),
    ]


def hand_over_applications(*, user: User, disable: bool) -> None:
    """To the other owners of each; one without any is disabled. Raises Conflict for that, unless `disable`."""
    roles = Role.objects.filter(user=user, application__isnull=False, store__isnull=True)
    owned = Application.objects.filter(Q(user=user) | Q(pk__in=roles.values("application")))
    for application in owned.order_by("pk"):
        others = Role.objects.filter(application=application, store__isnull=True, user__is_active=True)
        if others.exclude(user=user).exists() or not disable:
            remove_person(caller=Caller(user_id=user.pk), application=application, user_id=user.pk)
        elif application.is_enabled:
            application.is_enabled = False
            application.save(update_fields=["is_enabled", "updated"])
            end_tokens_of_application(application=application)


def _applications(user: User) -> Iterator[Record]:
    for application in Application.objects.filter(user=user).order_by("created"):
        yield {"ID": str(application.pk), "Name": application.name, "Created": timestamp(application.created)}


def _authorizations(user: User) -> Iterator[Record]:
    for token in AccessToken.objects.filter(user=user).order_by("created"):
        yield {
            "ApplicationID": str(token.application_id),
            "Scope": token.scope,
            "Created": timestamp(token.created),
            "Expires": timestamp(token.expires),
        }


def _invitations(user: User) -> Iterator[Record]:
    mine = Q(email__iexact=user.email) | Q(invited_by=user) | Q(decided_by=user)
    for invitation in OwnerInvitation.objects.filter(mine).order_by("sent"):
        yield {
            "ApplicationID": str(invitation.application_id),
            "Email": invitation.email if invitation.email.lower() == user.email.lower() else None,
            "State": invitation.state,
            "Sent": timestamp(invitation.sent),
        }


def _erase_invitations(user: User) -> None:
    """Runs before the address of the user itself goes."""
    OwnerInvitation.objects.filter(email__iexact=user.email).delete()
    events: Any = OwnerInvitation.pgh_event_model  # type: ignore[attr-defined]
    with pgtrigger.ignore("applications.OwnerInvitationEvent:append_only"):
        events.objects.filter(email__iexact=user.email).update(email=ERASED)
