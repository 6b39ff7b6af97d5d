"""Slow senders of request bodies, at real concurrency: streams that block until they are released."""

import threading
import time

import pytest

from fulfillment.core import receiving
from fulfillment.core.lanes import LaneFull, TooManyAtOnce, client_address
from fulfillment.core.receiving import BodyStream
from tests.support.patience import PATIENCE
from tests.support.web_handler import web_handler


class SlowStream:
    """A body of which the rest has not arrived; `reading` is set while a thread waits for it."""

    def __init__(self) -> None:
        self.reading, self.arrived = threading.Event(), threading.Event()

    def read(self, size=-1):
        self.reading.set()
        assert self.arrived.wait(PATIENCE)
        return b"body"


class Senders:
    def __init__(self) -> None:
        self.streams, self.threads, self.bodies = [], [], []

    def send(self, address):
        stream = SlowStream()
        thread = threading.Thread(target=self._read, args=(address, stream), daemon=True)
        self.streams.append(stream)
        self.threads.append(thread)
        thread.start()
        assert stream.reading.wait(PATIENCE)

    def _read(self, address, stream):
        client_address.set(address)
        self.bodies.append(BodyStream(stream).read())

    def finish(self):
        for stream in self.streams:
            stream.arrived.set()
        for thread in self.threads:
            thread.join(PATIENCE)


@pytest.fixture
def slow(settings):
    settings.WEB_THREADS = 8
    senders = Senders()
    yield senders
    senders.finish()
    assert senders.bodies == [b"body"] * len(senders.streams)
    assert receiving._threads.is_unused()


def read_from(address):
    client_address.set(address)
    stream = SlowStream()
    stream.arrived.set()
    return BodyStream(stream).read()


def test_slow_sender_holds_all_but_one_of_the_threads_that_receive(slow):
    for _ in range(3):
        slow.send("198.51.100.1")
    began = time.monotonic()
    with pytest.raises(TooManyAtOnce, match="slow request bodies as one address may") as refused:
        read_from("198.51.100.1")
    assert time.monotonic() - began < 1
    assert (refused.value.status, refused.value.retry_after) == (429, 2)
    assert read_from("198.51.100.2") == b"body"


def test_slow_senders_together_leave_half_of_the_threads(slow):
    for number in range(4):
        slow.send(f"198.51.100.{number}")
    with pytest.raises(LaneFull, match="as are taken at once"):
        read_from("198.51.100.9")
    slow.finish()
    assert read_from("198.51.100.9") == b"body"


def test_body_that_cannot_be_read_frees_its_thread(settings):
    settings.WEB_THREADS = 1

    class Broken:
        def read(self):
            raise OSError

    for _ in range(2):
        with pytest.raises(OSError, match=r"^$"):
            BodyStream(Broken()).read()
    assert read_from("198.51.100.1") == b"body"


@pytest.mark.parametrize(
    ("path", "kind", "wanted"),
    [
        ("/api/v1/user/emails", "application/json", b"too_many_at_once"),
        ("/oauth/token", "application/x-www-form-urlencoded", b"temporarily_unavailable"),
        ("/accounts/login/", "application/x-www-form-urlencoded", b"slow request bodies as one address may"),
    ],
)
def test_refused_slow_body_is_answered_in_the_form_of_its_path(slow, handler, world, path, kind, wanted):
    for _ in range(3):
        slow.send("198.51.100.7")
    client = world.as_operator()
    request = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": path,
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "8000",
        "REMOTE_ADDR": "198.51.100.7",
        "HTTP_AUTHORIZATION": f"Bearer {client.token}",
        "HTTP_OCP_APIM_SUBSCRIPTION_KEY": client.key,
        "CONTENT_TYPE": kind,
        "CONTENT_LENGTH": "4",
        "wsgi.input": slow.streams[0],
        "wsgi.url_scheme": "http",
    }
    answered = {}
    response = handler(request, lambda status, headers: answered.update(status=status, headers=dict(headers)))
    body = b"".join(response)
    response.close()
    assert answered["status"] == "429 Too Many Requests"
    assert answered["headers"]["Retry-After"] == "2"
    assert wanted in body


@pytest.fixture
def handler():
    with web_handler() as handler:
        yield handler
