"""The schema that `make run` loads equals what the migrations make."""

import os
import re

import psycopg
import pytest

from fulfillment.local.schema import load_schema
from tests.support.release_dump import address_of, dump_of, empty_database, environment_of, manage

pytestmark = pytest.mark.django_db

ROWS = {
    "django_migrations": "app, name",
    "django_content_type": "app_label, model",
    "auth_permission": "codename, name",
}


def schema_of(name: str) -> list[str]:
    """The statements, in an order that does not depend on the migration that added a table or column."""
    text = dump_of(name, "--schema-only")
    return sorted(line.strip().rstrip(",") for line in text.splitlines() if not re.match(r"--|\s*$", line))


def restore_dump(dump: str, name: str) -> None:
    """PostgreSQL writes some expressions differently once they were restored from a dump."""
    with psycopg.connect(address_of(name), autocommit=True) as opened:
        opened.execute(dump)


def rows_of(name: str) -> dict[str, list[tuple[str, ...]]]:
    with psycopg.connect(address_of(name)) as opened:
        return {
            table: sorted(opened.execute(f"SELECT {columns} FROM {table}").fetchall())
            for table, columns in ROWS.items()
        }


@pytest.mark.slow
def test_loaded_schema_equals_the_migrated_one(tmp_path):
    with empty_database(f"migrated_{os.getpid()}") as migrated:
        manage(environment_of(migrated, tmp_path), "migrate")
        dump = dump_of(migrated)

    with (
        empty_database(f"restored_{os.getpid()}") as expected,
        empty_database(f"loaded_{os.getpid()}") as loaded,
    ):
        restore_dump(dump, expected)
        assert load_schema(address_of(loaded))
        manage(environment_of(loaded, tmp_path), "migrate")

        assert schema_of(loaded) == schema_of(expected)
        assert rows_of(loaded) == rows_of(expected)


def test_schema_is_loaded_into_an_empty_database_alone():
    with empty_database(f"loaded_{os.getpid()}") as name:
        assert load_schema(address_of(name))
        assert not load_schema(address_of(name))
        assert rows_of(name)["django_migrations"]
