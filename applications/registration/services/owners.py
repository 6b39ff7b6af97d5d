"""Owners of an application: invited by mail, equal among each other, and never none.

Every change locks the application first, so that two owners who remove each other leave one.
"""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.callers import Caller
from accounts.mail import MailUnavailable, send_templated_mail
from accounts.models import NotificationKind, Role, User
from accounts.permissions import WRITE_GRANTS
from accounts.selectors.emails import find_user_by_confirmed_email
from accounts.throttles import count_invitation_mail
from applications.registration.models import Application, InvitationState, OwnerInvitation
from applications.registration.selectors.applications import may_write
from applications.registration.selectors.owners import get_invitation, owner_ids, pending_invitation
from applications.registration.services.applications import OWNER_GRANTS
from applications.registration.services.keys import lock_application
from applications.registration.services.notices import notify_owners
from fulfillment.core.errors import Conflict, Forbidden, Invalid, NotFound
from fulfillment.core.secrets import digest, generate_secret

LIFETIME = timedelta(days=7)
# Limits for mails to typed addresses, so that no account can make the service send spam.
PAUSE = timedelta(minutes=1)
MAX_PENDING = 20
MAX_ADDRESS_LENGTH = 254


def invite_owner(*, caller: Caller, application: Application, email: str) -> OwnerInvitation:
    """Mails a link to the address, whether or not an account has it; the same address again gets a new link."""
    _check_address(email)
    token = generate_secret("sfi_")
    invitation = _write_invitation(caller, application, email, token)
    context = {
        "application": application,
        "inviter": invitation.invited_by,
        "token": token,
        "days": LIFETIME.days,
    }
    notify_owners(
        application=application,
        kind=NotificationKind.OWNER_INVITED,
        key=f"invitation:{invitation.pk}:{invitation.sent:%Y%m%d%H%M%S}",
        title=lambda: _("A new owner is invited to %(name)s") % {"name": application.name},
        text=lambda: _(
            "All owners have the same rights. Check who is invited, and withdraw invitations you do not recognize."
        ),
        path=f"{application.get_absolute_url()}/owners",
        also=[caller.user_id],
    )
    try:
        language = _language_of(invitation)
        send_templated_mail(
            "applications/mails/owner_invitation.txt", invitation.email, context, language=language
        )
    except MailUnavailable:
        # The link was not sent; deleted, so that the next try need not wait.
        OwnerInvitation.objects.filter(pk=invitation.pk).delete()
        raise
    return invitation


def _language_of(invitation: OwnerInvitation) -> str:
    """The language of the invited person or, where that person has no account, of the inviter."""
    person = find_user_by_confirmed_email(invitation.email) or invitation.invited_by
    return person.language if person else ""


@transaction.atomic
def withdraw_invitation(*, caller: Caller, application: Application, invitation_id: Any) -> OwnerInvitation:
    _lock_to_write(caller, application)
    return _decide(pending_invitation(application, invitation_id), InvitationState.WITHDRAWN, caller.user_id)


@transaction.atomic
def accept_invitation(*, user: User, token: str) -> Application:
    """Makes the user an owner; raises NotFound for a link that no longer works."""
    application = get_invitation(token).application
    lock_application(application)
    _decide(get_invitation(token, lock=True), InvitationState.ACCEPTED, user.pk)
    Role.objects.bulk_create(
        [Role(user=user, application=application, grant=grant) for grant in OWNER_GRANTS],
        ignore_conflicts=True,
    )
    return application


@transaction.atomic
def decline_invitation(*, user: User | None, token: str) -> Application:
    invitation = get_invitation(token, lock=True)
    _decide(invitation, InvitationState.DECLINED, user.pk if user else None)
    return invitation.application


@transaction.atomic
def remove_person(*, caller: Caller, application: Application, user_id: UUID) -> None:
    """Removes a user's roles on the application and the invitations they sent; users may always remove themselves.

    Raises Conflict for an owner if no active one would remain. If the application was registered for this user, it
    passes to another owner, preferably of the same tenant.
    """
    lock_application(application)
    application.refresh_from_db(fields=["user"])
    if caller.user_id != user_id and not may_write(caller, application):
        raise Forbidden(_("Only owners of this application remove others."), code="grant_missing")
    roles = Role.objects.filter(application=application, user=user_id, store__isnull=True)
    if not roles.exists() and application.user_id != user_id:
        raise NotFound(_("This user has no role on the application."), code="user_not_found")
    staying = [owner for owner in owner_ids(application) if owner != user_id]
    is_owner = application.user_id == user_id or roles.filter(grant__in=WRITE_GRANTS).exists()
    if is_owner and not staying:
        raise Conflict(_("The last owner cannot leave; invite another one first."), code="last_owner")
    roles.delete()
    if application.user_id == user_id:
        application.user_id = _next_registrant(user_id, staying)
        application.save(update_fields=["user", "updated"])
    for invitation in application.owner_invitations.filter(invited_by=user_id, state=InvitationState.PENDING):
        _decide(invitation, InvitationState.WITHDRAWN, caller.user_id)


@transaction.atomic
def _write_invitation(caller: Caller, application: Application, email: str, token: str) -> OwnerInvitation:
    _lock_to_write(caller, application)
    _require_confirmed_address(caller)
    now = timezone.now()
    pending = OwnerInvitation.objects.filter(application=application, state=InvitationState.PENDING)
    earlier = pending.filter(email__iexact=email).first()
    if earlier and earlier.sent > now - PAUSE:
        raise Conflict(
            _("A mail to this address is already on its way. Wait a minute, then send it again."),
            code="too_soon",
        )
    if earlier is None and pending.count() >= MAX_PENDING:
        raise Conflict(
            _("At most %(max_pending)s invitations can be pending; withdraw some.")
            % {"max_pending": MAX_PENDING},
            code="too_many",
        )
    _count_mail(caller, email)
    invitation = earlier or OwnerInvitation(application=application, email=email)
    invitation.invited_by_id = caller.user_id
    invitation.digest, invitation.sent, invitation.expires = digest(token), now, now + LIFETIME
    invitation.save()
    return invitation


def _count_mail(caller: Caller, email: str) -> None:
    """Counts each mail towards the daily limits, also repeated mails of one invitation."""
    over = count_invitation_mail(user_id=str(caller.user_id), email=email)
    if over is None:
        return
    if over.policy == "invitations-to":
        text = _(
            "No invitation was sent to %(email)s: an address can receive %(quota)s a day. Try again tomorrow."
        )
    else:
        text = _("No invitation was sent to %(email)s: you can send %(quota)s a day. Try again tomorrow.")
    raise Conflict(text % {"email": email, "quota": over.quota}, code="too_many")


def _lock_to_write(caller: Caller, application: Application) -> None:
    lock_application(application)
    # Checked again: the owner may have been removed while this waited for the lock.
    if not may_write(caller, application):
        raise Forbidden(_("Only owners of this application can invite others."), code="grant_missing")


def _require_confirmed_address(caller: Caller) -> None:
    """Requires a confirmed e-mail address, because invitations are sent in the user's name."""
    confirmed = User.objects.filter(email_confirmed__isnull=False)
    if caller.user_id is None or not confirmed.filter(pk=caller.user_id).exists():
        raise Forbidden(
            _(
                "Confirm your own e-mail address first: open the link in the mail we sent you, or have it sent again "
                "from the top of any page."
            ),
            code="email_unconfirmed",
        )


def _check_address(email: str) -> None:
    try:
        EmailValidator("Enter a valid email address.")(email)
    except ValidationError as error:
        raise Invalid.at("/Email", "email_invalid", error.messages[0]) from error
    if len(email) > MAX_ADDRESS_LENGTH:
        raise Invalid.at(
            "/Email",
            "email_invalid",
            _("An address has at most %(max_address_length)s characters.")
            % {"max_address_length": MAX_ADDRESS_LENGTH},
        )


def _next_registrant(leaving: UUID, staying: list[UUID]) -> UUID:
    tenant = User.objects.filter(pk=leaving).values("tenant")
    related = set(User.objects.filter(pk__in=staying, tenant__in=tenant).values_list("pk", flat=True))
    return next((owner for owner in staying if owner in related), staying[0])


def _decide(invitation: OwnerInvitation, state: str, user_id: UUID | None) -> OwnerInvitation:
    invitation.state, invitation.decided, invitation.decided_by_id = state, timezone.now(), user_id
    invitation.save(update_fields=["state", "decided", "decided_by"])
    return invitation
