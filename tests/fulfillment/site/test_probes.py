import errno
import re
import socket
import threading
import time

import pytest
import time_machine
from django.core.cache import cache
from django.core.files.storage import default_storage
from django.db import OperationalError, connection
from django.test import Client

from fulfillment.core import health
from tests.support.patience import PATIENCE
from tests.support.servers.workers import working


@pytest.fixture(autouse=True)
def nothing_probed():
    health.STORAGE.forget()
    health.NAMES.forget()
    yield
    health.STORAGE.forget()
    health.NAMES.forget()


def failing(error):
    def save(*ignored, **also):
        raise error

    return save


def test_ready_names_what_was_looked_at(db, client):
    response = client.get("/readyz?worker=0")

    assert response.status_code == 200
    assert response.json()["status"] == "ready"
    checks = response.json()["checks"]
    assert [checks.pop(name) for name in ("database", "migrations", "storage")] == ["ok"] * 3
    assert set(checks) == {"worker", "room", "clock", "names", "temporary", "process"}


def test_probe_leaves_no_file(db, client):
    client.get("/readyz?worker=0")

    assert default_storage.listdir("health")[1] == []


def test_storage_is_probed_every_ten_seconds_only(db, client, monkeypatch):
    client.get("/readyz?worker=0")
    monkeypatch.setattr(default_storage, "save", failing(OSError(errno.ENOSPC, "No space left on device")))

    assert client.get("/readyz?worker=0").status_code == 200
    health.STORAGE.forget()
    assert client.get("/readyz?worker=0").status_code == 503


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO, errno.EACCES])
def test_storage_that_takes_no_files_is_not_ready(db, client, monkeypatch, number):
    monkeypatch.setattr(default_storage, "save", failing(OSError(number, "full")))

    response = client.get("/readyz?worker=0")

    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert response.json()["reason"] == "files cannot be written and read"
    assert client.get("/readyz?only=database,migrations").status_code == 200


def test_storage_that_hangs_delays_no_probe(db, client, monkeypatch):
    over = threading.Event()
    monkeypatch.setattr(health, "PATIENT_SECONDS", 0.01)
    monkeypatch.setattr(default_storage, "save", lambda *ignored: over.wait(PATIENCE))

    before = client.get("/readyz?worker=0")
    monkeypatch.setattr(health, "LATE_SECONDS", 0.0)
    response = client.get("/readyz?worker=0")
    over.set()

    assert before.status_code == 200
    assert response.json()["reason"] == "files are written and read too slowly"


def test_part_that_cannot_be_looked_at_is_not_ready(db, client, monkeypatch):
    monkeypatch.setattr(health, "_check_database", lambda: ("the database does not answer", 0.0))

    response = client.get("/readyz?only=migrations")

    assert (response.status_code, response.json()["reason"]) == (503, "the database does not answer")


def test_name_that_cannot_be_asked_for_is_named_each_time(db, client, settings):
    settings.EMAIL_HOST = "mail..example"

    for _ in range(2):
        response = client.get("/readyz?worker=0")
        assert response.json()["checks"]["names"] == "names of other machines are not found"
        health.NAMES.forget()


def test_probe_that_breaks_is_tried_again():
    looks = iter([ZeroDivisionError(), ""])

    def look():
        if failure := next(looks):
            raise failure
        return failure

    probe = health.CachedProbe(look, "late")

    with pytest.raises(ZeroDivisionError):
        probe.failure()
    assert probe.failure() == ""


@pytest.mark.parametrize(("by", "said"), [(3600, "ahead of"), (-3600, "behind")])
def test_wrong_clock_is_named(db, client, by, said):
    with time_machine.travel(time.time() + by):
        response = client.get("/readyz?worker=0")

    assert response.status_code == 503
    assert re.fullmatch(
        rf"the clock of this machine is (3600|3599|3601) s {said} the clock of the database",
        response.json()["reason"],
    )


def test_name_that_is_not_found_is_not_ready(db, client, monkeypatch):
    def unknown(*ignored):
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    with monkeypatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", unknown)
        response = client.get("/readyz?worker=0")

    assert response.json()["checks"]["names"] == "names of other machines are not found"


def test_process_that_may_open_no_file_is_named(db, client, monkeypatch):
    def none_left(*ignored):
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(health.os, "open", none_left)
        failures = health.failures_by_check()

    assert failures["process"] == "the process has no file handles left"


@pytest.mark.parametrize(
    "text", ["FATAL:  sorry, too many clients already", "FATAL:  remaining connection slots are reserved"]
)
def test_used_up_connections_are_named(db, client, monkeypatch, text):
    def refused():
        raise OperationalError(text)

    with monkeypatch.context() as patch:
        patch.setattr(connection, "cursor", refused)
        assert client.get("/readyz").json()["reason"] == "the database has no connection left"


def test_lost_database_is_not_ready_and_still_alive(db, client, monkeypatch):
    def away():
        raise OperationalError("gone")

    with monkeypatch.context() as patch:
        patch.setattr(connection, "cursor", away)
        assert client.get("/readyz?worker=0").json()["reason"] == "the database does not answer"
    assert client.get("/healthz").status_code == 200


def test_missing_migrations_are_not_ready(db, client, monkeypatch):
    cache.delete("migrations_complete")
    counted = []
    monkeypatch.setattr(
        health.MigrationExecutor, "migration_plan", lambda self, targets: counted.append(1) or ["one"]
    )

    responses = [client.get("/readyz?worker=0") for _ in range(2)]
    cache.delete("migrations_complete")

    for response in responses:
        assert (response.status_code, response.json()["reason"]) == (503, "migrations are missing")
    # Anybody may ask, and each count reads all migrations.
    assert len(counted) == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_worker_belongs_to_it_unless_the_web_alone_is_checked(client):
    lone = client.get("/readyz")

    assert (lone.status_code, lone.json()["reason"]) == (503, "no worker has been heard of for 30 seconds")
    assert client.get("/readyz?worker=0").status_code == 200

    with working():
        response = client.get("/readyz")

    assert (response.status_code, response.json()["checks"]["worker"]) == (200, "ok")


@pytest.mark.parametrize("path", ["/healthz", "/readyz?worker=0", "/metrics"])
def test_machines_are_watched_by_their_address_without_tls(db, settings, path):
    settings.SECURE_SSL_REDIRECT = True
    settings.ALLOWED_HOSTS = ["print.example"]
    answers = [Client().get(address, headers={"Host": "10.1.2.3:8000"}) for address in (path, "/guide")]

    assert answers[0].status_code == (404 if path == "/metrics" else 200)
    assert answers[1].status_code == 400


def test_name_that_is_no_part_is_refused(client):
    response = client.get("/readyz?only=datbase")

    assert response.status_code == 400
    assert response.json()["reason"].startswith(
        "only: 'datbase' is no part; write some of clock, database, migrations,"
    )
