"""What the log says when the database becomes unavailable."""

from fulfillment.core.db.connections import note_database_missed


def test_outage_is_logged_with_its_reason(caplog, monkeypatch):
    monkeypatch.setattr("fulfillment.core.db.connections._missed_since", None)
    hidden = ConnectionError("Database error.")
    hidden.__cause__ = OSError("password authentication failed\nfor user x")

    note_database_missed(hidden)

    assert caplog.messages == ["The database is away: password authentication failed for user x"]
