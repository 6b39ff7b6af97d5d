"""Answers that clients request and do not read: how many there may be, and what ends them."""

import contextlib
import itertools
import socket
from ipaddress import ip_network

import pytest
import requests
from django.http import HttpResponse
from django.test import RequestFactory

from fulfillment.site import unread_answers
from fulfillment.site.unread_answers import LOOK_BYTES, UnreadAnswers, refuse_unread
from tests.support.live_server import serving

READER, OTHER = "127.0.97.1", "127.0.97.2"


def connect(client, source, target):
    """As over a network: the kernel takes some 50 kB for a client that does not read, on loopback megabytes."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
    client.bind((source, 0))
    client.connect(target)


class Connections:
    """Connections to a listener of this process, as a web server has them."""

    def __init__(self, stack):
        self.stack = stack
        self.listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))

    def open(self, address=READER):
        client = self.stack.enter_context(socket.socket())
        connect(client, address, self.listener.getsockname())
        served = self.stack.enter_context(self.listener.accept()[0])
        served.setblocking(False)
        return client, served

    def unread(self, number, address=READER):
        return [self._filled(address) for _ in range(number)]

    def _filled(self, address):
        client, served = self.open(address)
        with contextlib.suppress(BlockingIOError):
            while True:
                served.send(bytes(65_536))
        return client, served


@pytest.fixture
def connections():
    with contextlib.ExitStack() as stack:
        yield Connections(stack)


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(unread_answers, "OF_ADDRESS", 4)
    monkeypatch.setattr(unread_answers, "OF_PROCESS", 8)


def test_client_with_unread_answers_gets_no_more_until_it_reads(connections, few):
    answers = UnreadAnswers()
    held = connections.unread(4)
    connections.open(OTHER)
    answers.count(LOOK_BYTES - 1)
    assert not answers.is_full(READER)

    answers.count(1)
    assert answers.is_full(READER)
    assert not answers.is_full(OTHER)
    held[0][0].close()
    assert not answers.is_full(READER)


def test_process_with_many_unread_answers_gives_each_address_one(connections, few):
    answers = UnreadAnswers()
    for number in range(8):
        connections.unread(1, f"127.0.98.{number + 1}")
    answers.count(LOOK_BYTES)

    assert answers.is_full("127.0.98.1")
    assert not answers.is_full(OTHER)


def test_answers_that_are_read_count_nowhere(connections, few):
    answers = UnreadAnswers()
    for _ in range(6):
        _, served = connections.open()
        # The kernel takes a small answer, whether its client reads it or not.
        served.send(bytes(1000))
    answers.count(LOOK_BYTES)
    assert not answers.is_full(READER)


def test_connection_that_has_stalled_is_closed(connections, monkeypatch):
    [(client, served), (_, other)] = [*connections.unread(1), connections.open()]
    answers = UnreadAnswers()
    answers.count(LOOK_BYTES)
    assert served.getpeername() == client.getsockname()

    monkeypatch.setattr(unread_answers, "STALLED_SECONDS", 0)
    answers.count(LOOK_BYTES)
    with pytest.raises(BrokenPipeError):
        served.send(b"x")
    other.send(b"x")


def test_trusted_proxy_is_not_limited(connections, few, settings):
    settings.TRUSTED_PROXIES = ()
    answers = UnreadAnswers()
    connections.unread(5)
    answers.count(LOOK_BYTES)
    assert answers.is_full(READER)

    settings.TRUSTED_PROXIES = (ip_network("127.0.97.0/24"),)
    answers.count(LOOK_BYTES)
    assert not answers.is_full(READER)


@pytest.mark.parametrize(
    ("path", "kind"), [("/api/v1/store", "application/problem+json"), ("/", "text/plain")]
)
def test_refusal_comes_before_any_work_and_says_how_to_go_on(connections, few, monkeypatch, path, kind):
    answers = UnreadAnswers()
    monkeypatch.setattr(unread_answers, "_answers", answers)
    connections.unread(4)
    unread_answers.count_answer(HttpResponse(bytes(LOOK_BYTES)))

    refused = refuse_unread(RequestFactory().get(path, REMOTE_ADDR=READER))
    assert (refused.status_code, refused["Retry-After"]) == (429, "2")
    assert refused["Content-Type"].startswith(kind)
    assert b"have not been read" in refused.content
    assert refuse_unread(RequestFactory().get(path, REMOTE_ADDR=OTHER)) is None


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_server_keeps_few_unread_answers(tmp_path):
    with contextlib.ExitStack() as stack:
        served = stack.enter_context(serving(tmp_path, threads=4))
        port = int(served.url.rpartition(":")[2])
        statuses = []
        for _ in itertools.repeat(None, 120):
            client = stack.enter_context(socket.socket())
            client.settimeout(30)
            connect(client, READER, ("127.0.0.1", port))
            client.sendall(b"GET /api/v1/schema HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            statuses.append(client.recv(12)[-3:])

        # One connection of HTTP/2 would hold hundreds of answers, and the kernel shows none of them.
        with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
            client.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5))
            assert client.recv(12) in {b"", b"HTTP/1.1 400"}

        assert statuses[:32] == [b"200"] * 32
        assert statuses[-20:] == [b"429"] * 20
        assert requests.get(f"{served.url}/healthz", timeout=10).status_code == 200
