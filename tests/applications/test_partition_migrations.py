"""The tables of the release before become partitioned ones and back, with all their rows."""

import os

import psycopg
import pytest

from fulfillment.core.db.partitions import WIDTH
from tests.support.release_dump import address_of, dump_of, empty_database, environment_of, manage

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
BEFORE = ("applications", "0006_webhook_events")
TABLES = ("event", "delivery", "deliveryattempt", "loggedrequest")
ADD_EVENT = """
WITH event AS (
    INSERT INTO applications_event (event_id, application_id, store_id, type, timestamp, data)
    SELECT gen_random_uuid(), id, '', 'order.received', now(), '{}' FROM applications_application LIMIT 1
    RETURNING id
), delivery AS (
    INSERT INTO applications_delivery (event_id, webhook_id, state, tries, next_try, created)
    SELECT event.id, webhook.id, 'Pending', 0, now(), now() FROM event, applications_webhook webhook
    RETURNING id
)
INSERT INTO applications_deliveryattempt (delivery_id, timestamp, milliseconds, error, body)
SELECT id, now(), 1, '', '' FROM delivery
"""
ADD_WEBHOOK = """
INSERT INTO applications_webhook (id, application_id, url, event_types, store_ids, is_enabled, disabled_reason,
    created, updated)
SELECT gen_random_uuid(), id, 'https://print.example', '{*}', '{}', true, '', now(), now()
FROM applications_application LIMIT 1
"""
ADD_REQUEST = """
INSERT INTO applications_loggedrequest (application_id, time, method, path, status, code, pointer, microseconds,
    request_id, headers)
SELECT id, now(), 'GET', '/', 200, '', '', 1, gen_random_uuid(), '{}' FROM applications_application LIMIT 1
"""
ADD_PARTITIONS = (
    "SELECT fulfillment_add_partitions('{applications_event,applications_delivery,applications_deliveryattempt}', "
    "'{applications_event_id_seq,applications_delivery_id_seq}', 1)",
    "SELECT fulfillment_add_partitions('{applications_loggedrequest}', '{applications_loggedrequest_id_seq}', 1)",
)


def rows_of(opened):
    return {
        table: opened.execute(f"SELECT * FROM applications_{table} ORDER BY id").fetchall()
        for table in TABLES
    }


def schema_of(name):
    tables = [f"--table=applications_{table}" for table in TABLES]
    lines = dump_of(name, "--schema-only", *tables).splitlines()
    return sorted(line.strip().rstrip(",") for line in lines if line and not line.startswith("--"))


def add_rows(opened):
    for statement in (ADD_EVENT, ADD_REQUEST):
        opened.execute(statement)


def test_rows_are_kept_forwards_and_backwards(tmp_path):
    with empty_database(f"partitioned_{os.getpid()}") as name:
        environment = environment_of(name, tmp_path)
        manage(environment, "migrate", *BEFORE)
        plain = schema_of(name)
        manage(environment, "prepare")
        with psycopg.connect(address_of(name), autocommit=True) as opened:
            opened.execute(ADD_WEBHOOK)
            add_rows(opened)
            for statement in ADD_PARTITIONS:
                opened.execute(statement)
            add_rows(opened)
            before = rows_of(opened)
            assert [row[0] for row in before["event"]] == [1, WIDTH]

            manage(environment, "migrate", *BEFORE)
            assert rows_of(opened) == before
            assert schema_of(name) == plain
            add_rows(opened)
            before = rows_of(opened)
            assert [row[0] for row in before["event"]] == [1, WIDTH, WIDTH + 1]


def test_table_with_rows_becomes_the_first_partition(tmp_path):
    with empty_database(f"partitioned_{os.getpid()}") as name:
        environment = environment_of(name, tmp_path)
        manage(environment, "prepare")
        manage(environment, "migrate", *BEFORE)
        with psycopg.connect(address_of(name), autocommit=True) as opened:
            opened.execute("CREATE ROLE reader_of_partitions")
            opened.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader_of_partitions")
            try:
                opened.execute(ADD_WEBHOOK)
                add_rows(opened)
                before = rows_of(opened)
                manage(environment, "migrate")
                assert rows_of(opened) == before
                add_rows(opened)
                assert [row[0] for row in rows_of(opened)["delivery"]] == [1, 2]
                opened.execute("SET ROLE reader_of_partitions")
                assert rows_of(opened)["event"]
                opened.execute("RESET ROLE")
            finally:
                opened.execute("DROP OWNED BY reader_of_partitions; DROP ROLE reader_of_partitions")
