"""Mail to the people behind an application."""

from django.conf import settings
from django.core.mail import send_mail
from django.db.models import Q
from procrastinate.contrib.django import app

from accounts.models import User
from applications.registration.models import Application

MAIL_TASK = "applications.send_mail"
WRITE_GRANTS = ("Application.Self.Write", "Application.All.Write")


def mail_owners(*, application: Application, subject: str, text: str) -> None:
    """Queues a mail to the owner and everybody who may write the application, with the transaction's commit."""
    page = f"{settings.PUBLIC_URL}{application.get_absolute_url()}"
    app.configure_task(MAIL_TASK).defer(
        application_id=str(application.pk), subject=subject, text=f"{text}\n\n{page}\n"
    )


def send_mail_to_owners(*, application_id: str, subject: str, text: str) -> None:
    """One mail for each, so that recipients do not see one another."""
    application = Application.objects.filter(pk=application_id).first()
    for address in owner_addresses(application) if application else ():
        send_mail(subject, text, None, [address])


def owner_addresses(application: Application) -> list[str]:
    """Confirmed ones only: an account may have been created with another person's address."""
    people = User.objects.filter(
        Q(pk=application.user_id)
        | Q(roles__application=application, roles__store__isnull=True, roles__grant__in=WRITE_GRANTS),
        is_active=True,
        email_confirmed__isnull=False,
    ).exclude(email="")
    return sorted(set(people.values_list("email", flat=True)))
