import psycopg
import pytest
from django.conf import settings
from django.db import IntegrityError, OperationalError, connection, transaction

from accounts.models import Tenant
from fulfillment.core.db.prepared import (
    execute,
    fetch_row,
    fetch_rows,
)

PREPARED = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE %s"
INSERT = "INSERT INTO accounts_tenant (domain, name, created) VALUES (%s, %s, now())"


def prepared(text):
    with connection.cursor() as cursor:
        cursor.execute(PREPARED, [f"%{text}%"])
        return cursor.fetchone()[0]


@transaction.atomic
def roll_back(act):
    act()
    raise ZeroDivisionError


def test_statement_stays_prepared_on_its_connection(db):
    for number in range(3):
        assert fetch_row("SELECT %s::int + 1 AS prepared_once", [number]) == (number + 1,)

    assert prepared("AS prepared_once") == 1


def test_places_may_have_names_and_occur_twice(db):
    statement = "SELECT %(low)s::int, %(text)s || '100 %%', %(low)s::int + 1"

    assert fetch_row(statement, {"text": "of ", "low": 1, "unused": 5}) == (1, "of 100 %", 2)


def test_values_of_every_kind_are_unchanged_by_a_round_trip(db):
    statement = "SELECT %s::text[], %s::jsonb, %s::boolean, %s::uuid, NULL::text, convert_to(%s, 'UTF8')"
    values = (["a", "ü"], psycopg.types.json.Jsonb({"a": [1]}), True, None, "€")

    assert fetch_row(statement, values) == (["a", "ü"], {"a": [1]}, True, None, None, "€".encode())


def test_no_row_is_none(db):
    assert fetch_row("SELECT 1 WHERE false") is None
    assert fetch_rows("SELECT 1 WHERE false") == []


@pytest.mark.django_db(transaction=True)
def test_statement_that_the_server_forgot_is_prepared_again():
    fetch_row("SELECT 1 AS forgotten")
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")

    assert fetch_row("SELECT 1 AS forgotten") == (1,)


@pytest.mark.django_db(transaction=True)
def test_statement_whose_result_changed_its_type_is_prepared_again():
    execute("CREATE TEMPORARY TABLE changing AS SELECT 1::int AS value")
    fetch_row("SELECT value FROM changing")
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE changing ALTER value TYPE text")

    assert fetch_row("SELECT value FROM changing") == ("1",)


@pytest.mark.django_db(transaction=True)
def test_first_statement_of_a_transaction_is_part_of_it():
    with pytest.raises(ZeroDivisionError):
        roll_back(lambda: execute(INSERT, ["gone.example", "Gone"]))

    assert not Tenant.objects.filter(domain="gone.example").exists()


@pytest.mark.django_db(transaction=True)
def test_statements_are_prepared_once_more_after_a_rollback():
    fetch_row("SELECT 1 AS outlives")
    with pytest.raises(ZeroDivisionError):
        roll_back(lambda: Tenant.objects.create(domain="gone.example", name="Gone"))

    assert fetch_row("SELECT 1 AS outlives") == (1,)
    assert prepared("AS outlives") == 1


@pytest.mark.django_db(transaction=True)
def test_broken_constraint_is_the_error_django_knows():
    execute(INSERT, ["twice.example", "Once"])

    with pytest.raises(IntegrityError, match="domain"):
        execute(INSERT, ["twice.example", "Again"])

    assert fetch_row("SELECT 1") == (1,)


@pytest.mark.django_db(transaction=True)
def test_lost_connection_is_an_operational_error_and_the_next_request_has_a_new_one():
    [process] = fetch_row("SELECT pg_backend_pid()")

    with psycopg.connect(settings.DATABASE_URL, dbname=connection.settings_dict["NAME"]) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [process])

    with pytest.raises(OperationalError):
        fetch_row("SELECT pg_sleep(1)::text")
    connection.close_if_unusable_or_obsolete()

    assert fetch_row("SELECT pg_backend_pid()") != (process,)


def test_statements_count_as_queries(db, django_assert_num_queries):
    with django_assert_num_queries(2):
        fetch_row("SELECT 1")
        execute("SELECT 1")
