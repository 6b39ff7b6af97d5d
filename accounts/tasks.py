"""Background tasks of this app."""

from procrastinate import RetryStrategy
from procrastinate.contrib.django import app

from accounts.services.associations import REQUEST_TASK, send_association_mail
from accounts.services.mailed_links import (
    CONFIRMATION_TASK,
    RESET_TASK,
    send_confirmation_link,
    send_reset_links,
)
from accounts.services.notifications import NOTIFICATION_TASK, mail_notification


@app.task(name=RESET_TASK, retry=RetryStrategy(max_attempts=8, exponential_wait=5))
def send_links(*, email: str) -> None:
    send_reset_links(email=email)


@app.task(name=CONFIRMATION_TASK, retry=RetryStrategy(max_attempts=8, exponential_wait=5))
def send_confirmation(*, user_id: str) -> None:
    send_confirmation_link(user_id=user_id)


@app.task(name=REQUEST_TASK, retry=RetryStrategy(max_attempts=8, exponential_wait=5))
def send_request(*, request_id: str, user_id: str) -> None:
    send_association_mail(request_id=request_id, user_id=user_id)


@app.task(name=NOTIFICATION_TASK, retry=RetryStrategy(max_attempts=8, exponential_wait=5))
def send_notification(*, user_id: str, key: str) -> None:
    mail_notification(user_id=user_id, key=key)
