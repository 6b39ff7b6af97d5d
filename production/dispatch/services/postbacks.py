"""Postbacks of providers: stored at once, or by a worker where the service has too much to do at the moment."""

from base64 import b64decode, b64encode
from collections.abc import Sequence

from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateJob

from fulfillment.core.errors import Invalid, ServiceBusy, TooManyAtOnce
from fulfillment.core.text import storable
from production.dispatch.services.reports import receive_reports
from production.interface import Report
from production.jobs.models import ProviderReport
from production.providers.models import Provider
from production.providers.selectors import adapter_of

POSTBACK_TASK = "production.store_postback"
# Each is a transaction of its own: more would hold a thread for many seconds.
MAX_REPORTS = 100
# One report may be of all jobs of an order.
MAX_SECONDS = 10.0
# Of one provider. Larger bodies take too long to read outside of a limit.
MAX_QUEUED, MAX_QUEUED_BYTES = 500, 64 * 1024
# Queued ones of a provider that workers store at once: all wait for the store's lock of orders, as new orders do.
STORED_AT_ONCE = 2


def store_postback(*, provider: Provider, body: bytes, content_type: str) -> list[ProviderReport]:
    """Raises Invalid, and ServiceBusy after MAX_SECONDS."""
    reports = _read_reports(provider, body, content_type)
    return receive_reports(provider=provider, reports=reports, seconds=MAX_SECONDS)


def queue_postback(
    *, provider: Provider, body: bytes, content_type: str, refusal: ServiceBusy | TooManyAtOnce
) -> int:
    """Has a worker store it, because a provider may not send it again; returns the number of reports in it.

    Raises Invalid, and the refusal if the body is large or many wait.
    """
    jobs = ProcrastinateJob.objects.filter(task_name=POSTBACK_TASK, args__provider_id=provider.pk)
    waiting = jobs.filter(status="todo").count()
    if len(body) > MAX_QUEUED_BYTES or waiting >= MAX_QUEUED:
        raise refusal
    reports = _read_reports(provider, body, content_type)
    # Behind mails and batches.
    lock = f"{POSTBACK_TASK}.{provider.pk}.{waiting % STORED_AT_ONCE}"
    task = app.configure_task(POSTBACK_TASK, lock=lock, priority=-1)
    task.defer(provider_id=provider.pk, body=b64encode(body).decode(), content_type=content_type)
    return len(reports)


def store_queued_postback(*, provider_id: int, body: str, content_type: str) -> None:
    if provider := Provider.objects.filter(pk=provider_id).first():
        store_postback(provider=provider, body=b64decode(body), content_type=content_type)


def _read_reports(provider: Provider, body: bytes, content_type: str) -> Sequence[Report]:
    try:
        reports = adapter_of(provider).parse_report(body, {"Content-Type": content_type})
    except ValueError as error:
        raise Invalid(storable(str(error)), code="report_unreadable") from error
    if len(reports) > MAX_REPORTS:
        message = f"There are {len(reports):,} reports; at most {MAX_REPORTS} are accepted at once."
        raise Invalid(message, code="too_many_reports")
    return reports
