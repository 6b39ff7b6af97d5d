"""The database's clock, which all machines share; clocks of machines may be wrong."""

import time
from datetime import datetime, timedelta

from fulfillment.core.db.prepared import fetch_rows


def database_now() -> datetime:
    moment: datetime = fetch_rows("SELECT clock_timestamp()")[0][0]
    return moment


class DatabaseClock:
    """Continues from the last `set` without queries."""

    def __init__(self) -> None:
        self._known: tuple[datetime, float] | None = None

    def set(self) -> None:
        self._known = (database_now(), time.monotonic())

    def now(self) -> datetime:
        moment, since = self._known or (database_now(), time.monotonic())
        return moment + timedelta(seconds=time.monotonic() - since)
