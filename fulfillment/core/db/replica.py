"""Reads that a streaming replica may serve (DATABASE_REPLICA_URL), and when it may.

How far the replica is behind is found without its clock: the position of the primary's log is noted with the moment,
and once the replica has replayed that position, it has all that was committed before that moment.
"""

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, Error, connections

from fulfillment.core.db.connections import renew_connection
from fulfillment.core.db.prepared import Parameters, fetch_rows

logger = logging.getLogger("fulfillment.database")

ALIAS = "replica"
Rows = list[tuple[Any, ...]]

# The moment is read before the position, so all that was committed before the moment is before the position too.
PRIMARY = """
SELECT extract(epoch FROM clock_timestamp())::float8, (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::int8,
       (SELECT system_identifier FROM pg_control_system())
"""
REPLAYED = """
SELECT CASE WHEN pg_is_in_recovery() THEN (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::int8 END,
       (SELECT system_identifier FROM pg_control_system())
"""
SHORTEST, LONGEST = 0.1, 1.0
KEPT_SAMPLES = 1000


class Sample(NamedTuple):
    """The end of the primary's log, with the time by its clock and by the clock of this process."""

    position: int
    moment: float
    noted: float


class Replica:
    """What this process knows of the replica; a thread compares it with the primary up to ten times a second."""

    def __init__(self, greatest_lag: float) -> None:
        self.greatest_lag = greatest_lag
        self.failure = ""
        self._samples: deque[Sample] = deque(maxlen=KEPT_SAMPLES)
        self._reached: Sample | None = None
        self._checking, self._starting = threading.Lock(), threading.Lock()
        self._thread: threading.Thread | None = None

    @property
    def lag(self) -> float:
        """How many seconds it may be behind at most; infinite while that is not known."""
        reached = self._reached
        return math.inf if reached is None else time.monotonic() - reached.noted

    @property
    def problem(self) -> str:
        """Why it serves no reads; empty if it does."""
        if self.failure or self.lag <= self.greatest_lag:
            return self.failure
        return f"the replica is more than {self.greatest_lag:g} s behind"

    def serves(self, since: float) -> bool:
        """Whether it has all that was committed before `since`, by the primary's clock, and is within the lag."""
        reached = self._reached
        return (
            reached is not None
            and reached.moment >= since
            and time.monotonic() - reached.noted <= self.greatest_lag
        )

    def start(self) -> None:
        """Starts its thread once, at the first read, because the server may fork before."""
        if self._thread is not None:
            return
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="replica", daemon=True)
                self._thread.start()

    def check(self) -> None:
        """Compares replica and primary once; while another thread does, this one returns."""
        if not self._checking.acquire(blocking=False):
            return
        try:
            self._check()
        finally:
            self._checking.release()

    def lose(self, reason: str) -> None:
        """No read uses the replica until a later check succeeds."""
        self._reached = None
        if self.failure != reason:
            self.failure = reason
            logger.error("The replica serves no reads: %s. The primary serves them.", reason)

    def _check(self) -> None:
        try:
            sample, cluster = _position_of_primary()
        except Error:
            return  # Without the primary nothing is served, and the known lag increases.
        try:
            renew_connection(connections[ALIAS])
            replayed, found = fetch_rows(REPLAYED, alias=ALIAS)[0]
        except Error:
            connections[ALIAS].close()
            self.lose("the replica does not answer")
            return
        if replayed is None:
            self.lose("DATABASE_REPLICA_URL names a server that is no replica")
        elif found != cluster:
            self.lose("DATABASE_REPLICA_URL names the replica of another primary")
        else:
            self._note(sample, replayed)

    def _note(self, sample: Sample, replayed: int) -> None:
        if self._samples and sample.position < self._samples[-1].position:
            self._samples.clear()
        self._samples.append(sample)
        while self._samples and self._samples[0].position <= replayed:
            self._reached = self._samples.popleft()
        if self.failure:
            self.failure = ""
            logger.warning("The replica answers again.")

    def _watch(self) -> None:
        pause = min(max(self.greatest_lag / 10, SHORTEST), LONGEST)
        while True:
            try:
                self.check()
            except Exception:
                logger.exception("The replica could not be compared with the primary.")
            time.sleep(pause)


@cache
def the_replica() -> Replica | None:
    """The replica of this process; None without DATABASE_REPLICA_URL."""
    return Replica(settings.DATABASE_REPLICA_LAG_SECONDS) if ALIAS in settings.DATABASES else None


def fetch_replicated(
    since: float | None,
    statement: str,
    parameters: Parameters = (),
    *,
    suffices: Callable[[Rows], bool] = bool,
) -> Rows:
    """As `fetch_rows`, from the replica if it has all that was committed before `since`, else from the primary.

    Without `since`, only the primary is read. It is also read if the replica fails, or if what it has does not
    suffice: what was added a moment ago may not be there yet.
    """
    replica = None if since is None else the_replica()
    if replica is not None and since is not None:
        replica.start()
        rows = _rows_of(replica, statement, parameters) if replica.serves(since) else None
        if rows is not None and suffices(rows):
            return rows
    return fetch_rows(statement, parameters)


def _rows_of(replica: Replica, statement: str, parameters: Parameters) -> Rows | None:
    """None after a failure: a lost connection, a cancelled statement, or a migration not yet replayed."""
    connection = connections[ALIAS]
    try:
        renew_connection(connection)
        return fetch_rows(statement, parameters, alias=ALIAS)
    except Error as error:
        if connection.connection is None or connection.connection.closed:
            connection.close()
            replica.lose("the replica does not answer")
        else:
            logger.warning("The replica could not serve a read: %s", type(error.__cause__ or error).__name__)
        return None


def _position_of_primary() -> tuple[Sample, int]:
    renew_connection()
    noted = time.monotonic()
    moment, position, cluster = fetch_rows(PRIMARY, alias=DEFAULT_DB_ALIAS)[0]
    return Sample(position, moment, noted), cluster
