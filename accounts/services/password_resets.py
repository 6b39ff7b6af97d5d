"""Mails links with which people who forgot their password set a new one."""

from datetime import timedelta

from django.conf import settings
from django.contrib.auth.tokens import default_token_generator
from django.db.models import Value
from django.db.models.functions import Lower
from django.urls import reverse
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _
from procrastinate.contrib.django import app

from accounts.mail import send_templated_mail
from accounts.models import User
from accounts.throttles import may_mail

RESET_TASK = "accounts.send_reset_links"
# In one mail.
MAX_ACCOUNTS = 100


def request_reset_link(*, email: str) -> None:
    """Queues a job that looks up the address, so that the response time is the same for all addresses."""
    if may_mail(email=email):
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
