"""Background tasks of this app; print jobs are sent by `worker`."""

from procrastinate.contrib.django import app

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
