"""Logs one line when the database becomes unavailable, and one when it answers again."""

import logging
import time
from typing import Any

from django.db import connection
from django.db.backends.signals import connection_created
from django.dispatch import receiver

from fulfillment.core.errors import in_one_line

logger = logging.getLogger("fulfillment.database")

_missed_since: float | None = None


def log_database_error(error: BaseException) -> bool:
    """Whether the error left no connection behind; others, such as a time-out, are of one statement."""
    held = connection.connection
    is_lost: bool = held is None or held.closed
    if is_lost:
        note_database_missed(error)
    return is_lost


def note_database_missed(error: BaseException) -> None:
    """Logs why, such as a wrong password; errors of procrastinate hide it in their cause."""
    global _missed_since
    if _missed_since is None:
        _missed_since = time.monotonic()
        logger.error("The database is away: %s", in_one_line(error.__cause__ or error))


@receiver(connection_created)
def log_database_recovered(**signal: Any) -> None:
    """Also called without a signal, once a statement has succeeded."""
    global _missed_since
    since, _missed_since = _missed_since, None
    if since is not None:
        logger.warning("The database answers again, %.1f s after it was missed.", time.monotonic() - since)
