"""Background tasks of this app; jobs themselves are sent beside them (`worker`)."""

from procrastinate.contrib.django import app

from production.providers.services.providers import review_failing_providers


@app.periodic(cron="* * * * * */20")
@app.task(
    name="production.review_providers",
    lock="production.review_providers",
    queueing_lock="production.review_providers",
)
def review_providers(timestamp: int) -> None:
    """Looks again at providers that fail, so that they get jobs again when they are back."""
    review_failing_providers()
