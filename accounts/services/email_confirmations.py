"""Confirms e-mail addresses by a link sent to the mailbox."""

from datetime import timedelta

from django.core import signing
from django.db import transaction
from django.utils import timezone
from procrastinate.contrib.django import app

from accounts.mail import send_templated_mail
from accounts.models import User
from accounts.selectors.users import CONFIRMATION_LIFETIME, CONFIRMATION_SALT, get_user_by_confirmation
from accounts.throttles import may_mail

CONFIRMATION_TASK = "accounts.send_confirmation_link"


def request_confirmation(*, user: User) -> None:
    """Queues a mail with a link at the transaction's commit, unless the address had enough mails."""
    if user.email_confirmed is None and may_mail(email=user.email):
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
