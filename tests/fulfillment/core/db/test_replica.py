"""When a replica may serve a read; `test_streaming_replica.py` has a real one."""

import math

import pytest
from django.db import OperationalError

from fulfillment.core.db import outage
from fulfillment.core.db import replica as module
from fulfillment.core.db.replica import Replica, Sample, fetch_replicated


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now = 100.0

    monkeypatch.setattr(module.time, "monotonic", lambda: Clock.now)
    return Clock


def test_replica_serves_what_was_committed_before_the_position_it_has_replayed(clock):
    replica = Replica(greatest_lag=5)
    assert not replica.serves(since=0)

    replica._note(Sample(position=1000, moment=50.0, noted=100.0), replayed=999)
    assert not replica.serves(since=0)

    clock.now = 101.0
    replica._note(Sample(position=2000, moment=51.0, noted=101.0), replayed=1500)
    assert replica.serves(since=50.0)
    assert not replica.serves(since=50.5)
    assert replica.lag == 1.0


def test_replica_beyond_the_greatest_lag_serves_nothing(clock):
    replica = Replica(greatest_lag=5)
    replica._note(Sample(1000, 50.0, 100.0), replayed=1000)

    clock.now = 105.0
    assert replica.serves(since=0)
    clock.now = 105.1
    assert not replica.serves(since=0)
    assert replica.problem == "the replica is more than 5 s behind"


def test_lost_replica_serves_nothing_until_it_answers_again(clock, caplog):
    replica = Replica(greatest_lag=5)
    replica._note(Sample(1000, 50.0, 100.0), replayed=1000)

    replica.lose("the replica does not answer")
    replica.lose("the replica does not answer")
    assert (replica.lag, replica.serves(since=0)) == (math.inf, False)
    assert len(caplog.records) == 1

    replica._note(Sample(1001, 51.0, 101.0), replayed=1001)
    assert replica.serves(since=51.0)
    assert not replica.problem


def test_primary_restored_to_an_older_log_is_compared_anew(clock):
    replica = Replica(greatest_lag=5)
    replica._note(Sample(9000, 50.0, 99.0), replayed=10)
    replica._note(Sample(2000, 60.0, 100.0), replayed=2000)

    assert replica.serves(since=60.0)


@pytest.fixture
def reads(monkeypatch, clock):
    """Which server each statement was sent to, in order; what the replica answers, or raises, can be set."""

    class Reads(list):
        answer = [("replica",)]

        def fetch(self, statement, parameters=(), alias="primary"):
            self.append(alias)
            if alias == "primary":
                return [("primary",)]
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer

    known = Replica(greatest_lag=5)
    known._note(Sample(1000, 50.0, 100.0), replayed=1000)
    monkeypatch.setattr(known, "start", lambda: None)
    monkeypatch.setattr(module, "the_replica", lambda: known)
    monkeypatch.setattr(
        module,
        "connections",
        {"replica": type("Held", (), {"connection": None, "close": staticmethod(lambda: None)})},
    )
    monkeypatch.setattr(module, "renew_connection", lambda *held: None)
    reads = Reads()
    reads.known = known
    monkeypatch.setattr(module, "fetch_rows", reads.fetch)
    return reads


def test_read_without_a_moment_is_the_primarys(reads):
    assert fetch_replicated(None, "SELECT") == [("primary",)]
    assert reads == ["primary"]


def test_read_after_an_own_write_is_the_primarys_until_the_replica_has_it(reads):
    assert fetch_replicated(50.1, "SELECT") == [("primary",)]
    assert fetch_replicated(50.0, "SELECT") == [("replica",)]


def test_missing_row_is_read_from_the_primary(reads):
    reads.answer = []
    assert fetch_replicated(0.0, "SELECT") == [("primary",)]
    assert fetch_replicated(0.0, "SELECT", suffices=lambda rows: True) == []
    assert reads == ["replica", "primary", "replica"]


def test_read_that_the_replica_fails_is_served_by_the_primary_and_no_other_one_tries(reads):
    reads.answer = OperationalError("server closed the connection unexpectedly")

    assert fetch_replicated(0.0, "SELECT") == [("primary",)]
    assert fetch_replicated(0.0, "SELECT") == [("primary",)]
    assert reads == ["replica", "primary", "primary"]
    assert reads.known.problem == "the replica does not answer"


def test_connection_to_the_replica_does_not_end_an_outage_of_the_primary(monkeypatch, caplog):
    monkeypatch.setattr(outage, "_missed_since", 1.0)

    outage.log_database_recovered(connection=type("Opened", (), {"alias": "replica"}))
    assert not caplog.records
    outage.log_database_recovered()
    assert "The database answers again" in caplog.text
