"""Locks that a pooler in transaction mode takes."""

import pytest
from django.db import connection

from fulfillment.core.db.locks import lock_of_its_own
from tests.support.patience import wait_for

pytestmark = pytest.mark.django_db(transaction=True)

HELD = """
SELECT backend_xmin, backend_xid, state FROM pg_stat_activity
WHERE application_name = 'fulfillment lock' AND datname = current_database()
"""
END = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fulfillment lock'"


def held_connections() -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(HELD)
        return cursor.fetchall()


def test_lock_is_held_by_one_and_free_afterwards():
    with lock_of_its_own(4711) as first, lock_of_its_own(4711) as second, lock_of_its_own(4712) as other:
        assert (first, second, other) == (True, False, True)
    with lock_of_its_own(4711) as again:
        assert again


def test_lock_holds_back_no_cleaning_and_no_event():
    with lock_of_its_own(4711):
        assert held_connections() == [(None, None, "idle in transaction")]


def test_lock_whose_connection_was_lost_harms_no_work():
    with lock_of_its_own(4711), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fulfillment lock'"
        )
        wait_for(lambda: not held_connections())
