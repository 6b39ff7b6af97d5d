"""Links in mails: they confirm an e-mail address, or let a person choose a new password."""

from datetime import timedelta

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.core import signing
from django.db import transaction
from django.db.models import Value
from django.db.models.functions import Lower
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _
from procrastinate.contrib.django import app

from accounts.mail import send_templated_mail
from accounts.models import User
from accounts.selectors.emails import CONFIRMATION_LIFETIME, CONFIRMATION_SALT, get_user_by_confirmation
from accounts.throttles import count_visitor_mail

CONFIRMATION_TASK = "accounts.send_confirmation_link"
RESET_TASK = "accounts.send_reset_links"
# In one mail.
MAX_ACCOUNTS = 100


def request_confirmation(*, user: User) -> None:
    """Queues a mail with a link at the transaction's commit, unless the address had enough mails."""
    if user.email_confirmed is None and not count_visitor_mail(email=user.email):
        app.configure_task(CONFIRMATION_TASK).defer(user_id=str(user.pk))


def send_confirmation_link(*, user_id: str) -> None:
    """Mails the current address, unless it is confirmed by now."""
    users = User.objects.filter(pk=user_id, is_active=True, email_confirmed__isnull=True)
    if user := users.select_related("tenant").first():
        context = {
            "user": user,
            "token": confirmation_token(user),
            "days": CONFIRMATION_LIFETIME // timedelta(days=1),
        }
        send_templated_mail("accounts/mails/address_confirm.txt", user.email, context, language=user.language)


def confirmation_token(user: User) -> str:
    return signing.dumps([str(user.pk), user.email], salt=CONFIRMATION_SALT)


@transaction.atomic
def confirm_address(*, token: str) -> User:
    """Confirms the address until it changes; raises NotFound for an invalid link."""
    user = get_user_by_confirmation(token, lock=True)
    if user.email_confirmed is None:
        user.email_confirmed = timezone.now()
        user.save(update_fields=["email_confirmed", "updated"])
    return user


def request_reset_link(*, email: str) -> None:
    """Queues a job that looks up the address, so that the response time is the same for all addresses."""
    if not count_visitor_mail(email=email):
        app.configure_task(RESET_TASK).defer(email=email)


def send_reset_links(*, email: str) -> None:
    """One mail with a link for each active user who confirmed the address.

    It goes to the address as it was confirmed: another spelling may be another mailbox.
    """
    owners = User.objects.filter(is_active=True, email_confirmed__isnull=False)
    owners = owners.alias(lower=Lower("email")).filter(lower=Lower(Value(email)))
    mailboxes: dict[str, list[User]] = {}
    for user in owners.select_related("tenant").order_by("username", "pk")[:MAX_ACCOUNTS]:
        if user.has_usable_password():
            mailboxes.setdefault(user.email, []).append(user)
    for address, users in mailboxes.items():
        accounts = [{"user": user, "path": _reset_path(user)} for user in users]
        context = {"accounts": accounts, "valid_for": link_lifetime}
        send_templated_mail("accounts/mails/password_reset.txt", address, context, language=users[0].language)


def _reset_path(user: User) -> str:
    uid = urlsafe_base64_encode(str(user.pk).encode())
    return reverse("password_reset_confirm", args=[uid, default_token_generator.make_token(user)])


def link_lifetime() -> str:
    hours = timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT) // timedelta(hours=1)
    if hours >= 48:
        return _("%(days)s days") % {"days": hours // 24}
    return _("%(hours)s hours") % {"hours": hours}
