"""Logs whose rows are removed by age: tables in partitions, of which the oldest is dropped as a whole.

A partition holds a range of IDs, not of time. From time to time a new one is added and the sequences of the IDs go on
at its start, so that it holds what is written from then on. Rows are found by ID in one partition alone, keys stay
unique, no row is ever without a partition, and tables that refer to an ID are cut at the same places.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, cached_property
from typing import Any

from django.db import OperationalError, connection, transaction
from django.utils import timezone

from fulfillment.core.errors import Conflict

# IDs of a partition: more than are written in its time, few enough that numbers in JSON stay exact.
WIDTH = 10_000_000_000
# A partition takes a third of the lifetime of its rows: reads visit at most five.
PARTS_OF_LIFETIME = 3
# The functions wait that long for a lock, and so long others wait behind them.
LOCK_TIMEOUT = "100ms"
TRIES, PAUSE_SECONDS = 20, 0.25
LOCK_NOT_AVAILABLE, DEADLOCK = "55P03", "40P01"

# The role of the service owns no tables. It may delete every row of a log, so dropping a partition allows it nothing
# new; the functions refuse other tables.
ADD = f"""
CREATE OR REPLACE FUNCTION fulfillment_add_partitions(tables text[], sequences text[], number bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '{LOCK_TIMEOUT}' AS $$
DECLARE
    named text;
BEGIN
    FOREACH named IN ARRAY tables LOOP
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', named || '_p' || number, named || '_p' || number - 1);
        EXECUTE format(
            'ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)',
            named, named || '_p' || number, number * {WIDTH}, (number + 1) * {WIDTH}
        );
    END LOOP;
    -- Waits for all transactions that have taken a number: later ones write into the new partitions.
    FOREACH named IN ARRAY sequences LOOP
        EXECUTE format('ALTER SEQUENCE %I START WITH %s RESTART', named, number * {WIDTH});
    END LOOP;
END $$
"""  # noqa: S608 - a constant
DROP = f"""
CREATE OR REPLACE FUNCTION fulfillment_drop_partitions(tables text[], number bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout = '{LOCK_TIMEOUT}' AS $$
DECLARE
    names text[] := ARRAY(SELECT named || '_p' || number FROM unnest(tables) named);
BEGIN
    IF EXISTS (
        SELECT FROM unnest(names) named
        WHERE NOT EXISTS (SELECT FROM pg_class WHERE oid = to_regclass(quote_ident(named)) AND relispartition)
    ) THEN
        RAISE EXCEPTION '% are not all partitions', names;
    END IF;
    EXECUTE 'DROP TABLE ' || (SELECT string_agg(quote_ident(named), ', ') FROM unnest(names) named);
END $$
"""  # noqa: S608 - a constant
OF_NO_OTHER_ROLE = """
REVOKE ALL ON FUNCTION fulfillment_add_partitions, fulfillment_drop_partitions FROM PUBLIC
"""
NUMBERS = """
SELECT substring(relname from '[0-9]+$')::bigint FROM pg_inherits JOIN pg_class ON oid = inhrelid
WHERE inhparent = %s::regclass ORDER BY 1
"""


def without_older(statement: str, number: int) -> str:
    """A hot statement that names the earliest ID as `0::bigint`, without the partitions before that of `number`.

    As a parameter it would be planned anew each time. There is one text for each partition.
    """
    return _beginning(statement, number // WIDTH * WIDTH)


@cache
def _beginning(statement: str, first: int) -> str:
    return statement.replace("0::bigint", f"{first}::bigint")


def install_partition_functions(**kwargs: Any) -> None:
    """Called after all migrations."""
    with connection.cursor() as cursor:
        cursor.execute(ADD)
        cursor.execute(DROP)
        cursor.execute(OF_NO_OTHER_ROLE)


@dataclass(frozen=True)
class PartitionedLog:
    """Tables that are cut at the same numbers, each by the column beside it.

    The first has the IDs and `time`, and its rows are what is counted. Rows of one partition of the others belong to
    rows of the same or an older partition of the first. `sequences` are all those the columns come from.
    """

    tables: Mapping[str, str]
    sequences: tuple[str, ...]
    time: str
    lifetime: Callable[[], timedelta]
    # So many expired rows go in batches; a partition is worth having from ten times as many.
    few: int = 10_000

    @cached_property
    def _first(self) -> tuple[str, str]:
        return next(iter(self.tables.items()))

    @property
    def expired_before(self) -> datetime:
        return timezone.now() - self.lifetime()

    def numbers(self) -> list[int]:
        """Of its partitions, the oldest first."""
        with connection.cursor() as cursor:
            cursor.execute(NUMBERS, [self._first[0]])
            return [number for (number,) in cursor.fetchall()]

    def expired(self) -> list[int]:
        """The partitions that may be dropped. The newest, which is written to, never is."""
        found: list[int] = []
        for number in self.numbers()[:-1]:
            # In their order, because rows may belong to rows of an older partition.
            if self._exists(f"{self._in(number)} AND {self.time} > %s", [self.expired_before]):
                break
            found.append(number)
        return found

    def count(self, number: int) -> int:
        return int(self._value(f"SELECT count(*) FROM {self._first[0]} WHERE {self._in(number)}"))  # noqa: S608

    def count_removed(self) -> int:
        """The rows of the first table that go now: of expired partitions, and those before `removed_before`."""
        dropped = self.expired()
        table, key = self._first
        rest = f"{key} >= {(dropped[-1] + 1) * WIDTH if dropped else 0} AND {self.time} <= %s"
        old = self._value(f"SELECT count(*) FROM {table} WHERE {rest}", [self.removed_before()])  # noqa: S608
        return sum(map(self.count, dropped)) + int(old)

    def drop(self, number: int) -> None:
        """Waits for its locks a moment only, and tries again. Raises Conflict."""
        self._call("SELECT fulfillment_drop_partitions(%s, %s)", [list(self.tables), number])

    def add_if_due(self) -> bool:
        """Adds a partition where the newest has existed for its part of the lifetime and is worth to be dropped."""
        newest = self.numbers()[-1]
        table, key = self._first
        until = timezone.now() - self.lifetime() / PARTS_OF_LIFETIME
        first = f"SELECT {self.time} FROM {table} WHERE {self._in(newest)} ORDER BY {key} LIMIT 1"  # noqa: S608
        oldest = self._value(first)
        if oldest is None or oldest > until or not self._exists(f"{self._in(newest)} OFFSET {self.few * 10}"):
            return False
        self.add(newest + 1)
        return True

    def add(self, number: int) -> None:
        """Raises Conflict where the locks are not free for long."""
        self._call(
            "SELECT fulfillment_add_partitions(%s, %s, %s)",
            [list(self.tables), list(self.sequences), number],
        )

    def removed_before(self) -> datetime:
        """Rows that are older are removed in batches, beside partitions that are dropped.

        Those are all that have expired, unless they are many and their partition will be dropped soon.
        """
        kept = [number for number in self.numbers() if number not in self.expired()]
        table, key = self._first
        oldest = (
            f"SELECT count(*) FROM (SELECT {self.time} AS time FROM {table} WHERE {self._in(*kept[:-1])} "  # noqa: S608
            f"ORDER BY {key} LIMIT {self.few + 1}) oldest WHERE time <= %s"
        )
        if len(kept) == 1 or self._value(oldest, [self.expired_before]) <= self.few:
            return self.expired_before
        return self.expired_before - self.lifetime() / 2

    def _in(self, *numbers: int) -> str:
        """Numbers in the text, so that other partitions are left out of the plan."""
        key = self._first[1]
        upper = f"{key} < {(numbers[-1] + 1) * WIDTH}" if numbers else "false"
        return f"{key} >= {numbers[0] * WIDTH} AND {upper}" if numbers and numbers[0] else upper

    def _exists(self, condition: str, parameters: list[Any] | None = None) -> bool:
        found = f"SELECT EXISTS (SELECT FROM {self._first[0]} WHERE {condition})"  # noqa: S608
        return bool(self._value(found, parameters))

    def _value(self, statement: str, parameters: list[Any] | None = None) -> Any:
        with transaction.atomic(), connection.cursor() as cursor:
            # All rows of a large partition may be read, which nothing waits for.
            cursor.execute("SET LOCAL statement_timeout = 0")
            cursor.execute(statement, parameters)
            row = cursor.fetchone()
            return row and row[0]

    def _call(self, statement: str, parameters: list[Any]) -> None:
        for _ in range(TRIES):
            try:
                self._value(statement, parameters)
                return
            except OperationalError as error:
                if getattr(error.__cause__, "sqlstate", None) not in {LOCK_NOT_AVAILABLE, DEADLOCK}:
                    raise
                time.sleep(PAUSE_SECONDS)
        raise Conflict(f"{self._first[0]} is in use; the next run continues.", code="log_in_use")
