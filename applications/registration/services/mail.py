"""Sends mails that release 0.1.0 queued for owners; newer releases use `notices`."""

from django.db.models import Q

from accounts.mail import send_text
from accounts.models import User
from applications.registration.models import Application

MAIL_TASK = "applications.send_mail"
WRITE_GRANTS = ("Application.Self.Write", "Application.All.Write")


def send_mail_to_owners(*, application_id: str, subject: str, text: str) -> None:
    """One mail for each, so that recipients do not see one another."""
    application = Application.objects.filter(pk=application_id).first()
    for address in owner_addresses(application) if application else ():
        send_text(subject, text, address)


def owner_addresses(application: Application) -> list[str]:
    """Confirmed ones only: an account may have been created with another person's address."""
    people = User.objects.filter(
        Q(pk=application.user_id)
        | Q(roles__application=application, roles__store__isnull=True, roles__grant__in=WRITE_GRANTS),
        is_active=True,
        email_confirmed__isnull=False,
    ).exclude(email="")
    return sorted(set(people.values_list("email", flat=True)))
