"""What workers do for the service as a whole."""

import logging

from procrastinate.contrib.django import app

from fulfillment.errors import Conflict
from fulfillment.housekeeping import prune

logger = logging.getLogger("fulfillment.tasks")


@app.periodic(cron="17 3 * * *")
@app.task(name="fulfillment.prune", lock="fulfillment.prune", queueing_lock="fulfillment.prune")
def prune_everything(timestamp: int) -> None:
    """At night, as `manage.py prune` by hand or by a timer does; while that runs, this has nothing to do."""
    try:
        report = prune()
    except Conflict as error:
        logger.warning(error.message)
        return
    for one in report:
        if one.failure:
            logger.error("%s: %s", one.name, one.failure)
