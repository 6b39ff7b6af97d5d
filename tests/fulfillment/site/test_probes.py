import errno

import pytest
from django.core.cache import cache
from django.core.files.storage import default_storage
from django.db import OperationalError, connection
from django.test import Client

from fulfillment.site import probes
from tests.support.workers import working


@pytest.fixture(autouse=True)
def nothing_probed(monkeypatch):
    monkeypatch.setattr(probes, "_storage", (0.0, ""))


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
    assert set(checks) == {"worker"}


def test_probe_leaves_no_file(db, client):
    client.get("/readyz?worker=0")

    assert default_storage.listdir("health")[1] == []


def test_storage_is_probed_every_ten_seconds_only(db, client, monkeypatch):
    client.get("/readyz?worker=0")
    monkeypatch.setattr(default_storage, "save", failing(OSError(errno.ENOSPC, "No space left on device")))

    assert client.get("/readyz?worker=0").status_code == 200
    monkeypatch.setattr(probes, "_storage", (0.0, ""))
    assert client.get("/readyz?worker=0").status_code == 503


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO, errno.EACCES])
def test_storage_that_takes_no_files_is_not_ready(db, client, monkeypatch, number):
    monkeypatch.setattr(default_storage, "save", failing(OSError(number, "full")))

    response = client.get("/readyz?worker=0")

    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert response.json()["reason"] == "files cannot be written and read"


def test_lost_database_is_not_ready_and_still_alive(db, client, monkeypatch):
    def away():
        raise OperationalError("gone")

    with monkeypatch.context() as patch:
        patch.setattr(connection, "cursor", away)
        assert client.get("/readyz?worker=0").json()["reason"] == "the database does not answer"
    assert client.get("/healthz").status_code == 200


def test_missing_migrations_are_not_ready(db, client, monkeypatch):
    cache.delete("migrations_complete")
    monkeypatch.setattr(probes.MigrationExecutor, "migration_plan", lambda self, targets: ["one"])

    response = client.get("/readyz?worker=0")
    cache.delete("migrations_complete")

    assert (response.status_code, response.json()["reason"]) == (503, "migrations are missing")


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
