"""Logs in partitions, by a log of these tests' own."""

import threading
import time
from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone

from fulfillment.core.audit.retention import rule_for_log
from fulfillment.core.db import partitions
from fulfillment.core.db.partitions import WIDTH, PartitionedLog
from fulfillment.core.errors import Conflict

DAY = timedelta(days=1)
LOG = PartitionedLog(
    {"trial": "id", "trial_detail": "trial_id"},
    ("trial_id_seq",),
    time="written",
    lifetime=lambda: 30 * DAY,
    few=2,
)
MAKE = """
CREATE SEQUENCE trial_id_seq;
CREATE TABLE trial (id bigint NOT NULL DEFAULT nextval('trial_id_seq'), written timestamptz NOT NULL)
    PARTITION BY RANGE (id);
CREATE TABLE trial_p0 (LIKE trial INCLUDING ALL, word text UNIQUE);
ALTER TABLE trial ADD COLUMN word text;
ALTER TABLE trial ATTACH PARTITION trial_p0 FOR VALUES FROM (MINVALUE) TO (10000000000);
CREATE TABLE trial_detail (trial_id bigint NOT NULL) PARTITION BY RANGE (trial_id);
CREATE TABLE trial_detail_p0 PARTITION OF trial_detail FOR VALUES FROM (MINVALUE) TO (10000000000);
"""
REMOVE = "DROP TABLE trial, trial_detail; DROP SEQUENCE trial_id_seq"


@pytest.fixture
def log(db) -> PartitionedLog:
    run(MAKE)
    return LOG


@pytest.fixture
def kept_log(transactional_db):
    """Seen by other connections."""
    run(MAKE)
    yield LOG
    run(REMOVE)


def run(statement, parameters=None):
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return cursor.fetchall() if cursor.description else None


def write(age: timedelta = timedelta(0), count: int = 1) -> None:
    run(
        "WITH made AS (INSERT INTO trial (written) SELECT %s FROM generate_series(1, %s) RETURNING id) "
        "INSERT INTO trial_detail SELECT id FROM made",
        [timezone.now() - age, count],
    )


def remove(batch, before):
    yield len(run("DELETE FROM trial WHERE written <= %s RETURNING id", [before]))


def rows(table="trial"):
    return run(f"SELECT tableoid::regclass::text, count(*) FROM {table} GROUP BY 1 ORDER BY 1")


def retention(log):
    rule = rule_for_log("trial", log, remove)
    counted = rule.count()
    assert sum(rule.remove(100)) == counted
    return counted


def test_rows_are_in_the_newest_partition_with_their_details(log):
    write()
    log.add(1)
    write(count=2)

    assert rows() == [("trial_p0", 1), ("trial_p1", 2)]
    assert rows("trial_detail") == [("trial_detail_p0", 1), ("trial_detail_p1", 2)]
    assert run("SELECT min(id) FROM trial WHERE id > 1") == [(WIDTH,)]


def test_new_partition_has_the_keys_of_the_one_before(log):
    for number in (1, 2):
        log.add(number)
        run("INSERT INTO trial (written, word) VALUES (now(), 'once')")
        with pytest.raises(IntegrityError), transaction.atomic():
            run("INSERT INTO trial (written, word) VALUES (now(), 'once')")


@pytest.mark.parametrize(
    ("age", "count", "is_due"),
    [(0, 0, False), (9, 21, False), (11, 20, False), (11, 21, True)],
)
def test_partition_is_added_when_the_newest_is_old_and_large_enough(log, age, count, is_due):
    if count:
        write(age * DAY, count)

    assert log.add_if_due() is is_due
    assert log.numbers() == ([0, 1] if is_due else [0])


def test_expired_partitions_are_dropped_as_a_whole_and_others_untouched(log):
    for number, age in enumerate((50, 40, 29, 0)):
        if number:
            log.add(number)
        write(age * DAY, 3)

    assert retention(log) == 6

    assert rows() == [("trial_p2", 3), ("trial_p3", 3)]
    assert rows("trial_detail") == [("trial_detail_p2", 3), ("trial_detail_p3", 3)]
    assert log.numbers() == [2, 3]
    assert retention(log) == 0


def test_partition_is_dropped_after_all_older_ones(log):
    write()
    log.add(1)
    write(99 * DAY)
    log.add(2)

    assert log.expired() == []


def test_empty_partition_is_dropped_unless_it_is_the_newest(log):
    log.add(1)
    assert log.expired() == [0]
    retention(log)
    assert log.numbers() == [1]
    assert retention(log) == 0


@pytest.mark.parametrize(("expired", "left"), [(2, 0), (3, 3)])
def test_few_expired_rows_go_at_once_and_many_with_their_partition(log, expired, left):
    write(31 * DAY, expired)
    write(29 * DAY, 4)
    log.add(1)
    write()

    retention(log)

    assert rows() == [("trial_p0", 4 + left), ("trial_p1", 1)]


def test_no_row_outlives_its_lifetime_by_more_than_half(log):
    write(46 * DAY, 9)
    write(31 * DAY, 9)
    write(29 * DAY, 9)
    log.add(1)

    assert retention(log) == 9
    assert rows() == [("trial_p0", 18)]


def test_expired_rows_of_the_only_partition_go_at_once(log):
    write(31 * DAY, 19)
    assert retention(replace(log, few=9)) == 19


def test_second_addition_of_a_partition_fails_and_changes_nothing(log):
    log.add(1)
    write()
    with pytest.raises(ProgrammingError), transaction.atomic():
        log.add(1)
    write()
    assert rows() == [("trial_p1", 2)]


def test_interrupted_addition_leaves_the_log_as_it_was(log):
    write()
    with transaction.atomic():
        log.add(1)
        transaction.set_rollback(True)
    write()
    assert rows() == [("trial_p0", 2)]


def test_only_partitions_can_be_dropped(db):
    run("CREATE TABLE other_p1 ()")
    for table in ("other", "no_such"):
        with pytest.raises(Exception, match="not all partitions"), transaction.atomic():
            run("SELECT fulfillment_drop_partitions(%s, 1)", [[table]])


@pytest.mark.parametrize("is_granted", [True, False])
def test_role_that_owns_no_table_adds_and_drops_where_it_may_use_the_functions(log, is_granted):
    write(40 * DAY)
    run("CREATE ROLE partition_user")
    run("GRANT SELECT, INSERT, DELETE ON trial, trial_detail TO partition_user")
    run("GRANT USAGE ON SEQUENCE trial_id_seq TO partition_user")
    if is_granted:
        run("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO partition_user")
    run("SET LOCAL ROLE partition_user")
    if is_granted:
        log.add(1)
        write()
        assert retention(log) == 1
        assert rows() == [("trial_p1", 1)]
    else:
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            log.add(1)
    run("RESET ROLE")


@pytest.mark.django_db(transaction=True)
def test_reader_holds_up_a_drop_and_no_insert_waits_for_it(kept_log, monkeypatch):
    monkeypatch.setattr(partitions, "TRIES", 4)
    monkeypatch.setattr(partitions, "PAUSE_SECONDS", 0.1)
    write(40 * DAY)
    kept_log.add(1)
    reader, writer = other_connection(), other_connection()
    failures, waits = [], []

    def drop():
        try:
            kept_log.drop(0)
        except Conflict as error:
            failures.append(error.code)
        finally:
            connection.close()

    with reader.transaction():
        reader.execute("SELECT count(*) FROM trial")
        dropping = threading.Thread(target=drop)
        dropping.start()
        while dropping.is_alive():
            started = time.monotonic()
            writer.execute("INSERT INTO trial (written) VALUES (now())")
            waits.append(time.monotonic() - started)
            time.sleep(0.01)
        dropping.join()

    assert failures == ["log_in_use"]
    # The lock's limit of 0.1 s, and patience with a busy machine.
    assert max(waits) < 1
    assert rows()[0] == ("trial_p0", 1), "nothing was dropped"
    kept_log.drop(0)
    assert rows() == [("trial_p1", len(waits))]
    reader.close()
    writer.close()


@pytest.mark.django_db(transaction=True)
def test_partition_is_added_after_transactions_that_write_have_ended(kept_log, monkeypatch):
    monkeypatch.setattr(partitions, "TRIES", 2)
    writer = other_connection()
    with writer.transaction():
        writer.execute("INSERT INTO trial (written) VALUES (now())")
        with pytest.raises(Conflict):
            kept_log.add(1)
        assert kept_log.numbers() == [0]
    kept_log.add(1)
    write()
    assert rows() == [("trial_p0", 1), ("trial_p1", 1)]
    writer.close()


def other_connection() -> psycopg.Connection:
    known: BaseDatabaseWrapper = connection
    parameters = known.get_connection_params()
    parameters = {
        name: value for name, value in parameters.items() if name not in {"context", "cursor_factory"}
    }
    parameters.pop("prepare_threshold", None)
    return psycopg.connect(**parameters, autocommit=True)
