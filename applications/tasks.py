"""Background tasks of this app."""

from django.utils import timezone
from procrastinate import RetryStrategy
from procrastinate.contrib.django import app

from applications.registration.services.notices import MAIL_TASK, notify_of_ending_keys, send_mail_to_owners
from applications.webhooks.services.webhooks import review_failing_webhooks


@app.task(name=MAIL_TASK, retry=RetryStrategy(max_attempts=8, exponential_wait=5))
def send_mail(*, application_id: str, subject: str, text: str) -> None:
    send_mail_to_owners(application_id=application_id, subject=subject, text=text)


@app.periodic(cron="* * * * *")
@app.task(name="applications.review_webhooks", queueing_lock="applications.review_webhooks")
def review_webhooks(timestamp: int) -> None:
    review_failing_webhooks(now=timezone.now())


@app.periodic(cron="23 * * * *")
@app.task(name="applications.notify_of_ending_keys", queueing_lock="applications.notify_of_ending_keys")
def notify_of_keys(timestamp: int) -> None:
    notify_of_ending_keys(now=timezone.now())
