"""Database connections that ended, or that PostgreSQL refuses.

A restarted PostgreSQL has closed its end of every connection, and what is written to such a one is lost. The socket
says so by being readable: PostgreSQL sends nothing between statements but the message that it ends the connection.
"""

import logging
import select
import time
from typing import Any

from django.conf import settings
from django.core.management import CommandError
from django.db import DEFAULT_DB_ALIAS, ProgrammingError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.dispatch import receiver

from fulfillment.core.errors import in_one_line

NOT_PREPARED = {"42P01", "42703"}
NOT_ALLOWED = "42501"
NO_SUCH_ROLE = "42704"
# The process stood still for long in a transaction; a former primary, until connections lead to its successor.
# https://www.postgresql.org/docs/current/errcodes-appendix.html
STOOD_STILL, READ_ONLY = "25P03", "25006"
NOT_SERVED = {STOOD_STILL, READ_ONLY}


def sqlstate(error: BaseException) -> str:
    """The SQLSTATE of Django's error; empty without a connection."""
    return getattr(error.__cause__, "sqlstate", None) or ""


def renew_connection(connection: BaseDatabaseWrapper | None = None) -> None:
    """Closes, before a unit of work in its thread, a connection that is too old, broke or was ended by the server.

    The next statement opens a new one. Nothing is sent, so this costs microseconds. Within a transaction nothing
    happens: what was begun must fail as a whole.
    """
    # The attribute is of PostgreSQL's wrapper, and a connection of its own for each thread.
    wrapper = connection or connections[DEFAULT_DB_ALIAS]
    if wrapper.connection is None or wrapper.in_atomic_block:
        return
    wrapper.close_if_unusable_or_obsolete()
    if wrapper.connection is not None and was_closed_by_server(wrapper):
        wrapper.close()


def was_closed_by_server(wrapper: BaseDatabaseWrapper) -> bool:
    """Whether the server has closed the open connection; False does not prove that it works."""
    handle = wrapper.connection
    if handle.closed:
        return True
    poll = select.poll()
    poll.register(handle.fileno(), select.POLLIN)
    return bool(poll.poll(0))


def connect_past_the_pooler() -> None:
    """Connects commands that set, or whose programs set, what outlives a transaction: the web would inherit it."""
    if settings.DATABASE_POOLER == "none":
        return
    if not settings.DATABASE_DIRECT_URL:
        raise CommandError(
            "This command does not work through a pooler; set DATABASE_DIRECT_URL to an address that leads past it."
        )
    connection.close()
    # In place: other threads connect with the same settings.
    connection.settings_dict.update(settings.DIRECT_DATABASE)


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


def explanation_of(error: ProgrammingError) -> str | None:
    """None for an error of the code, whose stack is needed."""
    state = getattr(error.__cause__, "sqlstate", None)
    if state in NOT_PREPARED:
        return f"The database does not have the tables of this release; run prepare. ({_first_line(error)})"
    if state == NOT_ALLOWED:
        return (
            f"The role of DATABASE_URL may not do this ({in_one_line(error)}). `prepare` and `restore` need the role "
            'that owns the database: "Two roles" in docs/operating/deploy.md.'
        )
    if state == NO_SUCH_ROLE and settings.DATABASE_ROLE:
        return (
            f'DATABASE_ROLE: {_first_line(error)}. Create it first: "Two roles" in docs/operating/deploy.md.'
        )
    return None


def _first_line(error: ProgrammingError) -> str:
    return str(error).splitlines()[0]
