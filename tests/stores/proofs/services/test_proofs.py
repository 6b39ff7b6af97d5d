import threading
from contextlib import contextmanager
from datetime import timedelta

import psycopg
import pytest
from django.core.files.storage import default_storage
from django.db import connection
from django.utils import timezone

from accounts.callers import Caller
from fulfillment.core.errors import RenderersBusy, Unavailable
from fulfillment.core.files.storage import StorageUnavailable
from printing.bounded import busy, killed
from printing.typesetting import RenderingTimedOut
from stores.proofs.models import Proof
from stores.proofs.selectors import product_version_of
from stores.proofs.services import proofs
from stores.proofs.services.proofs import make_proof
from tests.factories.templates import make_card, make_demo_product
from tests.support.patience import PATIENCE

THREADS = 20


@pytest.fixture
def make(world):
    product = product_version_of(make_card(world.associated).pk)
    return lambda name="Ada": make_proof(caller=Caller(), product=product, values={"Name": name})


@pytest.fixture
def renderings(monkeypatch):
    """Counts renderings; `hold()` keeps each one until it is left."""
    render, counted = proofs.render_proof, []

    def count(*args, **kwargs):
        counted.append(args)
        return render(*args, **kwargs)

    monkeypatch.setattr(proofs, "render_proof", count)
    return counted


@contextmanager
def started(count, work):
    """Runs `work` in so many threads; their results are there after the block."""
    results = []

    def run():
        try:
            results.append(work())
        except Exception as error:  # noqa: BLE001 - shown by the asserts
            results.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    yield results
    for thread in threads:
        thread.join(timeout=PATIENCE)


def lock_elsewhere(digest):
    """As a process does that renders this very proof; closing the connection is its crash."""
    parameters = connection.get_connection_params()
    names = ("host", "port", "user", "password", "dbname")
    other = psycopg.connect(**{name: parameters[name] for name in names if parameters.get(name)})
    key = int.from_bytes(bytes.fromhex(digest[:16]), signed=True)
    other.execute("SELECT pg_advisory_xact_lock(%s)", [key])
    return other


@pytest.mark.django_db(transaction=True)
def test_equal_requests_at_once_render_once(make, renderings, settings):
    settings.WEB_THREADS = 4 * THREADS
    with started(THREADS, make) as results:
        pass

    assert len(renderings) == 1
    assert {proof.digest for proof in results} == {Proof.objects.get().digest}
    assert len(results) == THREADS


@pytest.mark.django_db(transaction=True)
def test_caller_renders_again_while_files_of_the_last_proof_are_written(make, settings, monkeypatch):
    # One rendering for each caller.
    settings.RENDERINGS_CONCURRENCY, settings.WEB_THREADS = 2, 4 * THREADS
    write, both = proofs.write_files, threading.Barrier(2)

    def write_together(files):
        both.wait(PATIENCE)
        write(files)

    monkeypatch.setattr(proofs, "write_files", write_together)
    names = iter(["Ada", "Grace"])
    with started(2, lambda: make(next(names))) as results:
        pass

    assert len({proof.digest for proof in results}) == 2


@pytest.mark.django_db(transaction=True)
def test_crash_of_the_one_that_renders_lets_the_next_one_render(make, renderings):
    digest = make().digest
    Proof.objects.all().delete()
    renderings.clear()

    other = lock_elsewhere(digest)
    with started(2, make) as results:
        threading.Event().wait(0.2)
        assert (results, renderings) == ([], [])
        other.close()

    assert [proof.digest for proof in results] == [digest, digest]
    assert len(renderings) == 1


@pytest.mark.django_db(transaction=True)
def test_waiting_too_long_for_an_equal_request_is_busy(make):
    digest = make().digest
    Proof.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '100ms'")
    try:
        with lock_elsewhere(digest), pytest.raises(RenderersBusy):
            make()
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")


@pytest.mark.parametrize("taken", [0, 1, 2])
def test_storage_failure_leaves_nothing_half_written(world, broken_storage, stored_files, monkeypatch, taken):
    product = product_version_of(make_demo_product(world.associated, "business-card-standard").pk)
    values = {"Name": "Ada", "Email": "ada@engine.example"}
    with monkeypatch.context() as context:
        broken_storage(taken)
        with pytest.raises(StorageUnavailable):
            make_proof(caller=Caller(), product=product, values=values)
        context.undo()

    assert (Proof.objects.count(), stored_files()) == (0, [])


def test_storage_failure_is_answered_503_and_the_next_attempt_succeeds(world, broken_storage, monkeypatch):
    make_card(world.associated)
    client = world.as_application()
    broken_storage(1)
    path = "/store/associated/product/card/proof"

    response = client.call("POST", path, {"Name": "Ada"})
    monkeypatch.undo()

    assert (response.status_code, response.json()["Code"]) == (503, "storage_unavailable")
    assert response["Retry-After"]
    assert client.call("POST", path, {"Name": "Ada"}).status_code == 200


@pytest.fixture
def failed_proof(world, monkeypatch):
    """The answer to a proof whose rendering ends in this error."""
    make_card(world.associated)

    def call(error):
        def fail(*args, **kwargs):
            raise error

        monkeypatch.setattr(proofs, "render_proof", fail)
        return world.as_application().call("POST", "/store/associated/product/card/proof", {"Name": "Ada"})

    return call


def test_busy_renderers_are_answered_503(failed_proof):
    response = failed_proof(busy("All renderers are busy."))

    assert (response.status_code, response.json()["Code"]) == (503, "renderers_busy")
    assert issubclass(RenderersBusy, Unavailable)


@pytest.mark.parametrize("reason", [busy("Others."), killed("was killed")], ids=["busy", "killed"])
def test_proof_is_not_stored_without_its_preflight(world, monkeypatch, reason):
    """It was, and orders of it were printed unchecked."""
    make_card(world.associated)

    def fail(*args):
        raise reason

    monkeypatch.setattr(proofs, "preflight", fail)
    response = world.as_application().call("POST", "/store/associated/product/card/proof", {"Name": "Ada"})

    assert (response.status_code, Proof.objects.count()) == (503, 0)


def test_values_that_take_too_long_are_not_to_be_sent_again(failed_proof):
    response = failed_proof(RenderingTimedOut("slow"))

    assert (response.status_code, response.json()["Code"]) == (400, "rendering_too_slow")
    assert "Send shorter texts, smaller pictures or a smaller PDF" in response.json()["detail"]
    assert "Retry-After" not in response


def test_lost_or_cut_files_are_made_again(make, renderings, stored_files):
    make()
    [pdf, page] = sorted(stored_files(), reverse=True)
    default_storage.delete(pdf)
    make()
    with default_storage.open(page, "wb") as file:
        file.write(b"")
    proof = make()

    assert len(renderings) == 3
    assert [default_storage.size(name) for name in (pdf, page)] == proof.sizes


def test_use_is_written_down_once_a_day(make, renderings):
    make()
    hour_ago, week_ago = (timezone.now() - timedelta(hours=hours) for hours in (1, 168))
    Proof.objects.update(last_used=hour_ago)
    make()
    assert Proof.objects.get().last_used == hour_ago

    Proof.objects.update(last_used=week_ago)
    make()
    assert timezone.now() - Proof.objects.get().last_used < timedelta(minutes=1)
    assert len(renderings) == 1


def test_proof_pruned_the_moment_it_is_found_is_made_again(make, renderings, monkeypatch):
    make()
    Proof.objects.update(last_used=timezone.now() - timedelta(days=60))
    touch = proofs._touch_proof
    monkeypatch.setattr(proofs, "_touch_proof", lambda digest: Proof.objects.all().delete() and touch(digest))

    make()

    assert (len(renderings), Proof.objects.count()) == (2, 1)
