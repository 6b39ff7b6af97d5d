"""The queued jobs that send mails."""

from procrastinate.contrib.django import app

from applications.registration.services.notices import MAIL_TASK


def mail_owners(*, application, subject: str, text: str) -> None:
    app.configure_task(MAIL_TASK).defer(application_id=str(application.pk), subject=subject, text=text)
