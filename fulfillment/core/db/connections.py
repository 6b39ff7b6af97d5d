"""Database connections that ended while idle, found before use without a query.

A restarted PostgreSQL has closed its end of every connection, and what is written to such a one is lost. The socket
says so by being readable: PostgreSQL sends nothing between statements but the message that it ends the connection.
"""

import select

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper


def renew_connection(connection: BaseDatabaseWrapper | None = None) -> None:
    """Before a unit of work, in its thread: closes a connection that is too old, broke or was ended by the server.

    The next statement opens a new one. Nothing is sent, so this costs microseconds. Within a transaction nothing
    happens: what was begun must fail as a whole.
    """
    # The attribute is of PostgreSQL's wrapper, and a connection of its own for each thread.
    held = connection or connections[DEFAULT_DB_ALIAS]
    if held.connection is None or held.in_atomic_block:
        return
    held.close_if_unusable_or_obsolete()
    if held.connection is not None and was_closed_by_server(held):
        held.close()


def was_closed_by_server(held: BaseDatabaseWrapper) -> bool:
    """Whether the server has closed the open connection; False does not prove that it works."""
    handle = held.connection
    if handle.closed:
        return True
    poll = select.poll()
    poll.register(handle.fileno(), select.POLLIN)
    return bool(poll.poll(0))
