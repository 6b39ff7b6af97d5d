"""Changes of the e-mail address: valid once confirmed by a mailed link; the old confirmed address is notified."""

import contextlib
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.mail import MailUnavailable, send_templated_mail
from accounts.models import EmailChange, User
from accounts.selectors.emails import get_email_change
from accounts.services.users import field_faults
from accounts.throttles import count_email_change, count_visitor_mail
from fulfillment.core.errors import Conflict, Invalid
from fulfillment.core.secrets import digest, generate_secret

LIFETIME = timedelta(hours=24)
# The least time between two mails for a user, so that no mailbox is flooded.
PAUSE = timedelta(minutes=1)


def request_email_change(*, user: User, email: str) -> EmailChange:
    """Sends a link to the new address and a notice to the old one; a new request replaces an earlier one."""
    token = generate_secret("sfe_")
    change = _write_change(user, email, token)
    context = {"user": user, "email": change.email, "token": token, "hours": LIFETIME // timedelta(hours=1)}
    try:
        send_templated_mail("accounts/mails/email_confirm.txt", change.email, context, language=user.language)
    except MailUnavailable:
        # The unsent change cannot be confirmed; deleted, so that the next try need not wait.
        EmailChange.objects.filter(pk=change.pk).delete()
        raise
    if user.email_confirmed is not None:
        _notify_old_address(user, user.email, "accounts/mails/email_change_requested.txt", context)
    return change


def confirm_email_change(*, token: str) -> User:
    """Makes the address that of the user, once; raises NotFound for a link that no longer works."""
    with transaction.atomic():
        change = get_email_change(token, lock=True)
        user = change.user
        old = user.email if user.email_confirmed is not None else None
        user.email, user.email_confirmed = change.email, timezone.now()
        user.save(update_fields=["email", "email_confirmed", "updated"])
        change.delete()
    if old is not None:
        _notify_old_address(user, old, "accounts/mails/email_changed.txt", {"user": user})
    return user


def cancel_email_change(*, user: User) -> None:
    EmailChange.objects.filter(user=user).delete()


@transaction.atomic
def _write_change(user: User, email: str, token: str) -> EmailChange:
    # The row of the user is the lock: there may be no change yet.
    stored = User.objects.select_for_update(of=("self",)).get(pk=user.pk)
    if email.lower() == stored.email.lower():
        raise Invalid.at("/Email", "email_unchanged", _("This is already your address."))
    stored.email = email
    if faults := [fault for fault in field_faults(stored) if fault.pointer == "/Email"]:
        raise Invalid(faults[0].message, faults=faults)
    now = timezone.now()
    if EmailChange.objects.filter(user=user, requested__gt=now - PAUSE).exists():
        raise Conflict(
            _("A mail was sent less than a minute ago. Wait a minute, then try again."), code="too_soon"
        )
    if count_visitor_mail(email=email):
        raise Conflict(
            _("This address has received as many mails today as are allowed. Try again tomorrow."),
            code="too_many",
        )
    if over := count_email_change(user_id=str(user.pk)):
        # A cancelled change leaves no row that counts.
        raise Conflict(
            _("You can request %(quota)s links to new addresses a day.") % {"quota": over.quota},
            code="too_many",
        )
    values = {
        "email": email,
        "digest": digest(token),
        "password_digest": digest(stored.password),
        "requested": now,
        "expires": now + LIFETIME,
    }
    return EmailChange.objects.update_or_create(user=user, defaults=values)[0]


def _notify_old_address(user: User, address: str, template: str, context: dict[str, object]) -> None:
    """Mails the old address. A failure is ignored: a lost mailbox is a common reason for the change."""
    with contextlib.suppress(MailUnavailable):
        send_templated_mail(template, address, context, language=user.language)
