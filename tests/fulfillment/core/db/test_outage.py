"""What the log says when the database becomes unavailable."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection

from fulfillment.core.db.connections import note_database_missed
from tests.support.accounts.oauth_flows import Party


def test_outage_is_logged_with_its_reason(caplog, monkeypatch):
    monkeypatch.setattr("fulfillment.core.db.connections._missed_since", None)
    hidden = ConnectionError("Database error.")
    hidden.__cause__ = OSError("password authentication failed\nfor user x")

    note_database_missed(hidden)

    assert caplog.messages == ["The database is away: password authentication failed for user x"]


@contextmanager
def only_reading() -> Iterator[None]:
    """As a primary that was replaced, until connections lead to its successor."""
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SET default_transaction_read_only = off")


@pytest.mark.django_db(transaction=True)
def test_former_primary_is_a_503_to_be_sent_again(world, client):
    program = world.as_application()
    client.raise_request_exception = False
    with only_reading():
        called = program.call("GET", "/store")
        signed_in = Party(world.application).token(grant_type="client_credentials")
        page = client.get("/accounts/login/")

    for response in (called, signed_in, page):
        assert (response.status_code, int(response["Retry-After"]) > 0) == (503, True)
    assert "accepts no writes" in called.json()["detail"]
    assert program.call("GET", "/store").status_code == 200
