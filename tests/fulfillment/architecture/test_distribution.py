"""Every table says where it belongs once the database is split by store, and docs/scaling.md what that takes."""

import pytest
from django.db import connection

from tests.tools.distribution import BY_STORE, declared, findings, tables, text, written

# Django's own list of migrations, and a table that waits for the release that drops it.
WITHOUT_MODEL = {"django_migrations", "accounts_secretgeneration"}

pytestmark = pytest.mark.django_db


def test_every_table_is_declared_by_store_everywhere_or_global():
    undeclared = tables() - set(declared()) - WITHOUT_MODEL

    assert undeclared == set(), "name them in tests/tools/distribution.py"
    assert set(declared()) - tables() == set(), "these are no tables"


def test_document_lists_what_a_split_database_would_not_take():
    assert written() == text(), "python -m tests.tools.distribution writes the list"


def test_new_key_and_foreign_key_are_found_in_the_catalog():
    before = findings()
    with connection.cursor() as cursor:
        cursor.execute("CREATE UNIQUE INDEX made_for_test ON stores_order (currency, id)")
        cursor.execute("ALTER TABLE stores_quote ADD made bigint REFERENCES applications_event")

    after = findings()

    assert set(after["stores_order"].refused) - set(before["stores_order"].refused) == {
        "key `made_for_test` (id, currency)"
    }
    assert set(after["stores_quote"].refused) - set(before["stores_quote"].refused) == {
        "foreign key (made) to `applications_event`"
    }
    assert declared()["stores_orderevent"] == BY_STORE
