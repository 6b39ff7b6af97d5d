"""Background tasks of this app; print jobs are sent by `worker`."""

from django.db import OperationalError
from procrastinate.contrib.django import app

from fulfillment.core.errors import Unavailable
from fulfillment.core.outbox import JobRetries
from production.dispatch.services.postbacks import POSTBACK_TASK, store_queued_postback
from production.providers.services import review_failing_providers


@app.periodic(cron="* * * * * */20")
@app.task(
    name="production.review_providers",
    lock="production.review_providers",
    queueing_lock="production.review_providers",
)
def review_providers(timestamp: int) -> None:
    """Tests failing providers, so that recovered ones get jobs again."""
    review_failing_providers()


@app.task(name=POSTBACK_TASK, retry=JobRetries(wait=5, retry_exceptions=[OperationalError, Unavailable]))
def store_postback(*, provider_id: int, body: str, content_type: str) -> None:
    store_queued_postback(provider_id=provider_id, body=body, content_type=content_type)
