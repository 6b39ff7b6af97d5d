"""With a replica, a caller reads from the primary after a write of its own; the test's server stands for both."""

import time

import pytest
from django.db import DEFAULT_DB_ALIAS
from django.http import HttpResponse
from django.test import RequestFactory

from accounts.callers import Caller
from accounts.models import RateWindow
from accounts.own_writes import OwnWrites
from fulfillment.core.db import replica as module
from fulfillment.core.db.replica import Replica, Sample
from stores.catalog.selectors.products import product_list_body
from tests.factories.orders import make_product, order_body

READS = [
    "/store",
    "/store/associated",
    "/store/associated/product",
    "/store/associated/product/card",
    "/store/associated/order/exportview",
    "/store/associated/order/exportview?status=20",
    "/store/associated/order/exportview?format=csv",
]


@pytest.fixture
def replica(monkeypatch):
    """One that has all of the future, and `replica.reads` of what was sent to it."""
    known, fetch = Replica(5), module.fetch_rows
    known.reads = []

    def fetch_rows(statement, parameters=(), alias=None):
        if alias is not None:
            known.reads.append(statement)
        return fetch(statement, parameters)

    monkeypatch.setattr(module, "ALIAS", DEFAULT_DB_ALIAS)
    monkeypatch.setattr(module, "fetch_rows", fetch_rows)
    monkeypatch.setattr(known, "start", lambda: None)
    module.the_replica.cache_clear()
    monkeypatch.setattr(module, "Replica", lambda lag: known)
    reach(known, time.time() + 3600)
    yield known
    module.the_replica.cache_clear()


def reach(replica: Replica, moment: float) -> None:
    replica._note(Sample(1, moment, time.monotonic()), 1)


@pytest.fixture
def store(world):
    make_product(world.associated)
    return world.associated


@pytest.mark.parametrize("path", READS)
def test_reads_of_catalog_and_export_are_served_by_the_replica(world, store, replica, path):
    answer = world.as_application().call("GET", path)

    assert (answer.status_code, bool(b"".join(answer))) == (200, True)
    assert replica.reads


def answer_of(world, path):
    answer = world.as_application().call("GET", path)
    return answer.status_code, b"".join(answer), answer.headers.get("ETag")


@pytest.mark.parametrize("path", READS)
def test_answers_are_the_same_as_without_a_replica(world, store, replica, path):
    world.as_application().call("POST", "/store/associated/order", order_body())
    reach(replica, time.time() + 3600)
    served = answer_of(world, path)
    replica.lose("the replica does not answer")

    assert answer_of(world, path) == served


def test_caller_reads_from_the_primary_after_its_write_until_the_replica_has_it(world, store, replica):
    client, other = world.as_application(), world.as_user(world.user)
    reach(replica, time.time())
    assert client.call("POST", "/store/associated/order", order_body()).status_code == 201

    client.call("GET", "/store/associated/order/exportview")
    assert replica.reads == []

    other.call("GET", "/store/associated/order/exportview")
    assert replica.reads

    replica.reads.clear()
    reach(replica, time.time() + 1)
    client.call("GET", "/store/associated/order/exportview")
    assert replica.reads


def test_refused_write_marks_nothing(world, store, replica):
    assert world.as_application().call("POST", "/store/associated/order", {}).status_code == 400

    assert not RateWindow.objects.filter(bucket__startswith="written:").exists()


def test_change_in_the_console_is_seen_by_every_callers_next_read(world, store, replica):
    reach(replica, time.time())
    request = RequestFactory().post("/admin/stores/product/1/change/")
    request.user = world.operator
    OwnWrites(lambda request: HttpResponse(status=302))(request)

    world.as_application().call("GET", "/store/associated/product")
    assert replica.reads == []


def test_write_whose_mark_fails_is_answered_all_the_same(world, store, replica, monkeypatch):
    def fail(*ignored):
        raise module.Error("the primary is away")

    monkeypatch.setattr("accounts.own_writes.execute", fail)

    assert world.as_application().call("POST", "/store/associated/order", order_body()).status_code == 201


def test_pages_and_full_records_are_read_from_the_primary(world, store, replica):
    product_list_body(Caller.on_pages(world.user), "associated", verbose=False)
    world.as_application().call("GET", "/store/associated/order/exportview?verbose=true")
    world.as_application().call("POST", "/store/associated/quote", order_body())

    assert replica.reads == []


def test_rows_the_replica_lacks_are_neither_missing_nor_refused(world, store, replica, monkeypatch):
    """An association, a store or a product that was added a moment ago."""
    fetch = module.fetch_rows

    def lagging(statement, parameters=(), alias=None):
        return [] if alias is not None else fetch(statement, parameters)

    monkeypatch.setattr(module, "fetch_rows", lagging)
    statuses = [world.as_application().call("GET", path).status_code for path in READS[1:5]]
    assert statuses == [200] * 4
