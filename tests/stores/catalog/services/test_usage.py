from datetime import UTC, date, datetime, timedelta

import pytest
import time_machine
from django.db import OperationalError, connection

from stores.catalog.models import StoreUsage
from stores.catalog.services import usage
from stores.catalog.services.usage import count_store_call, flush_store_usage
from stores.orders.selectors.board import daily_counts
from tests.factories.stores import make_store

pytestmark = pytest.mark.django_db


def test_calls_of_a_store_are_added_up_by_day():
    store, other = make_store(), make_store()
    with time_machine.travel(datetime(2026, 3, 1, 23, 59, 59, tzinfo=UTC), tick=False) as clock:
        count_store_call(store_id=store.external_id, status=200)
        count_store_call(store_id=store.external_id, status=422)
        flush_store_usage()
        count_store_call(store_id=store.external_id, status=200)
        clock.shift(timedelta(seconds=1))
        count_store_call(store_id=other.external_id, status=200)
        flush_store_usage()

        assert daily_counts(None) == [
            (date(2026, 3, 1), store.pk, store.company_name, store.currency, 0, 0, 0, 3),
            (date(2026, 3, 2), other.pk, other.company_name, other.currency, 0, 0, 0, 1),
        ]
        assert [row.calls for row in daily_counts([other.pk])] == [1]


def test_stores_that_do_not_exist_are_neither_remembered_nor_written():
    count_store_call(store_id="invented", status=404)
    assert not usage._counts
    count_store_call(store_id="removed", status=200)

    flush_store_usage()

    assert not StoreUsage.objects.exists()


def test_counts_are_kept_while_the_database_is_away(monkeypatch):
    store = make_store()
    count_store_call(store_id=store.external_id, status=200)

    def refuse():
        raise OperationalError

    with monkeypatch.context() as away:
        away.setattr(connection, "cursor", refuse)
        with pytest.raises(OperationalError):
            flush_store_usage()

    assert flush_store_usage() == 1


def test_api_calls_are_counted_but_not_those_of_test_applications(shop):
    shop.place()
    flush_store_usage()

    assert StoreUsage.objects.get().calls == 1
