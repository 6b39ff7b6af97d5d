"""Why PostgreSQL refused a statement or a connection, for /readyz and /metrics."""

import re
import time

from fulfillment.core.observability.instruments import count_database_refusal

# https://www.postgresql.org/docs/current/errcodes-appendix.html
DISK_FULL = "53100"
# A refused connection has no SQLSTATE.
NO_CONNECTION_LEFT = re.compile("too many (clients|connections)|connection slots")
ROOM_SECONDS = 10.0
_full_at: float | None = None


def note_refusal(error: BaseException) -> str:
    """Counts why PostgreSQL refused, and returns it: `full`, `connections` or `other`."""
    global _full_at
    reason = "connections" if NO_CONNECTION_LEFT.search(str(error)) else "other"
    if getattr(error.__cause__, "sqlstate", None) == DISK_FULL:
        reason, _full_at = "full", time.monotonic()
    count_database_refusal(reason)
    return reason


def had_no_room() -> bool:
    """Whether a write of this process was refused in the last seconds, because the database's disk is full."""
    return _full_at is not None and time.monotonic() - _full_at < ROOM_SECONDS
