"""Background tasks of the platform."""

import logging

from procrastinate.contrib.django import app

from fulfillment.core.errors import Conflict
from fulfillment.core.outbox import JobRetries
from fulfillment.operations.retention import prune

logger = logging.getLogger("fulfillment.tasks")

AGAIN_SECONDS = 900


@app.periodic(cron="17 3 * * *")
@app.task(
    name="fulfillment.prune",
    lock="fulfillment.prune",
    queueing_lock="fulfillment.prune",
    retry=JobRetries(wait=AGAIN_SECONDS, retry_exceptions=[Conflict]),
)
def prune_everything(timestamp: int) -> None:
    """Runs `manage.py prune` every night. During a backup it is retried later:
    one that takes longer every night must not mean that nothing is ever pruned."""
    for pruned in prune():
        if pruned.failure:
            logger.error("%s: %s", pruned.name, pruned.failure)
