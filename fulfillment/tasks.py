"""What workers do for the service as a whole."""

import logging

from procrastinate import RetryStrategy
from procrastinate.contrib.django import app

from fulfillment.errors import Conflict
from fulfillment.housekeeping import prune

logger = logging.getLogger("fulfillment.tasks")


# A backup may take an hour or two, and pruning gives way to it.
LATER = RetryStrategy(max_attempts=18, wait=600, retry_exceptions=[Conflict])


@app.periodic(cron="17 3 * * *")
@app.task(name="fulfillment.prune", lock="fulfillment.prune", queueing_lock="fulfillment.prune", retry=LATER)
def prune_everything(timestamp: int) -> None:
    """At night, as `manage.py prune` by hand or by a timer does; while that or a backup runs, it is tried later."""
    for one in prune():
        if one.failure:
            logger.error("%s: %s", one.name, one.failure)
