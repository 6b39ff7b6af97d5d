from datetime import timedelta

from django.conf import settings
from django.contrib.auth.forms import PasswordResetForm
from procrastinate.contrib.django import app

RESET_TASK = "accounts.send_reset_links"


def ask_reset_link(*, email: str) -> None:
    """Leaves it to a worker to look whose address this is: an answer here takes the same time for all."""
    app.configure_task(RESET_TASK).defer(email=email)


def send_reset_links(*, email: str) -> None:
    """One link for each active user of the address. Links start with the public address, not with a Host header."""
    form = PasswordResetForm({"email": email})
    if form.is_valid():
        form.save(
            domain_override=settings.PUBLIC_URL,
            subject_template_name="accounts/password_reset_subject.txt",
            email_template_name="accounts/password_reset_mail.txt",
            extra_email_context={"public_url": settings.PUBLIC_URL, "valid_for": link_lifetime()},
        )


def link_lifetime() -> str:
    hours = timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT) // timedelta(hours=1)
    return f"{hours // 24} days" if hours >= 48 else f"{hours} hours"
