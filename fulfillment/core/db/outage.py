"""Logs one line when the database becomes unavailable, and one when it answers again."""

import logging
import time
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.backends.signals import connection_created
from django.dispatch import receiver

logger = logging.getLogger("fulfillment.database")

_missed_since: float | None = None


def log_database_error() -> bool:
    """Whether the error left no connection behind; others, such as a time-out, are of one statement."""
    held = connection.connection
    is_lost: bool = held is None or held.closed
    if is_lost:
        note_database_missed()
    return is_lost


def note_database_missed() -> None:
    global _missed_since
    if _missed_since is None:
        _missed_since = time.monotonic()
        logger.error("The database is away.")


@receiver(connection_created)
def log_database_recovered(**signal: Any) -> None:
    """Also called without a signal, once a statement has succeeded. A replica that answers says nothing."""
    global _missed_since
    opened = signal.get("connection", connection)
    if opened.alias != DEFAULT_DB_ALIAS:
        return
    since, _missed_since = _missed_since, None
    if since is not None:
        logger.warning("The database answers again, %.1f s after it was missed.", time.monotonic() - since)
