"""The schema that `make run` loads, and what the first migrations make of an empty database.

That the loaded schema equals what all migrations make is shown in three parts: the first ones make what release 0.1.0
had (here), the later ones make the loaded one of that (tests/fulfillment/operations/test_upgrades.py), and the loaded
one is taken as it is.
"""

import os

import psycopg
import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from fulfillment.core.audit.guards import install_append_only_triggers
from fulfillment.core.audit.indexes import build_trail_indexes
from fulfillment.local.schema import load_schema
from tests.support.database.address import address_of
from tests.tools.release_dump import FOLDER, dump_of, empty_database, restore, schema_of, used

pytestmark = pytest.mark.django_db


def applied(name: str) -> list[tuple[str, str]]:
    with psycopg.connect(address_of(name)) as opened:
        return opened.execute("SELECT app, name FROM django_migrations").fetchall()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_first_migrations_make_the_schema_of_the_first_release():
    with (
        empty_database(f"released_{os.getpid()}") as released,
        empty_database(f"migrated_{os.getpid()}") as migrated,
        empty_database(f"restored_{os.getpid()}") as restored,
    ):
        restore(FOLDER / "0.1.0.sql.xz", released)
        with used(migrated):
            MigrationExecutor(connection).migrate(applied(released))
        for name in (migrated, released):
            # After the migrations of any release.
            with used(name):
                install_append_only_triggers()
                build_trail_indexes()
        # PostgreSQL writes some expressions differently once they were restored from a dump.
        with psycopg.connect(address_of(restored), autocommit=True) as opened:
            opened.execute(dump_of(migrated))

        assert schema_of(restored) == schema_of(released)
        assert sorted(applied(restored)) == sorted(applied(released))


def test_schema_is_loaded_into_an_empty_database_alone():
    with empty_database(f"loaded_{os.getpid()}") as name:
        assert load_schema(address_of(name))
        assert not load_schema(address_of(name))
        assert applied(name)
