import asyncio
import socket
import ssl
import threading

import pytest

from applications.webhooks.sending.client import STORED_BYTES, EndpointClient
from fulfillment.core.http.outgoing.sessions import tls_context
from tests.support.patience import PATIENCE, least_seconds, wait_for
from tests.support.servers.webhook_receiver import Receiver, receiving

pytestmark = pytest.mark.usefixtures("this_machine_allowed")


@pytest.fixture
def receiver():
    with receiving() as receiver:
        yield receiver


def post(*urls: str, time_limit: float = 15, body: bytes = b"{}"):
    async def run():
        client = EndpointClient(time_limit=time_limit)
        try:
            return [await client.post(url, body, {"webhook-id": "1"}) for url in urls]
        finally:
            await client.close()

    responses = asyncio.run(run())
    return responses[0] if len(urls) == 1 else responses


def test_body_and_headers_arrive_as_they_were_signed(receiver):
    response = post(receiver.url("/ok?key=a%20b"), body=b'{"a":1}')

    (received,) = receiver.received
    assert (received.path, received.body) == ("/ok?key=a%20b", b'{"a":1}')
    assert received.headers["webhook-id"] == "1"
    assert received.headers["content-type"] == "application/json"
    assert received.headers["user-agent"] == "StoreFulfillment-Webhooks/1"
    assert "accept-encoding" not in received.headers
    assert (response.status, response.body, response.is_success) == (200, "ok", True)


def test_connections_are_kept(receiver):
    post(*[receiver.url()] * 20)

    assert (len(receiver.received), receiver.connections) == (20, 1)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(receiver, status):
    with receiving() as other:
        response = post(receiver.url(f"/status/{status}", header=f"Location: {other.url()}"))

    assert (response.status, response.is_success) == (status, False)
    assert "not followed" in response.error
    assert (other.connections, len(receiver.received)) == (0, 1)


def test_proxies_of_the_environment_are_not_used(receiver, monkeypatch):
    with receiving() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url(""))
        assert post(receiver.url()).is_success

    assert proxy.connections == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["hang", "drip", "drip-head"])
def test_time_limit_covers_every_byte(receiver, kind):
    responses = []

    seconds = least_seconds(lambda: responses.append(post(receiver.url(f"/{kind}"), time_limit=1)), mark=2)

    assert seconds < 2
    assert {response.status for response in responses} == {None}
    assert all("1 seconds" in response.error for response in responses)


def test_answer_is_read_to_two_kilobytes_only(receiver):
    response = post(receiver.url("/flood"))

    assert (response.status, response.body) == (200, "x" * STORED_BYTES)
    # What the buffers on the way hold is taken as well.
    assert receiver.flooded < 1000


class Endless(Receiver):
    """Sends responses that nobody asked for, before its own or after it, until the client hangs up."""

    sent = 0
    has_ended = False

    async def answer(self, path, writer):
        if path == "/after":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            await writer.drain()
            # Else they are read with the response, whose connection is not kept then.
            await asyncio.sleep(0.1)
        try:
            while self.sent < 50_000_000:
                piece = (b"HTTP/1.1 100 \r\n\r\n" if path == "/before" else b"HTTP/1.1 204 \r\n\r\n") * 1000
                writer.write(piece)
                await writer.drain()
                self.sent += len(piece)
        finally:
            self.has_ended = True


@pytest.mark.parametrize("place", ["before", "after"])
def test_connection_of_endless_responses_is_ended(place):
    async def run(endless):
        client = EndpointClient(time_limit=10)
        response = await client.post(endless.url(f"/{place}"), b"{}", {})
        await asyncio.to_thread(wait_for, lambda: endless.has_ended)
        await client.close()
        return response

    with receiving(Endless()) as endless:
        response = asyncio.run(run(endless))

    assert response.is_success == (place == "after")
    # With what the buffers on the way hold.
    assert endless.sent < 20_000_000


def test_answer_can_always_be_stored():
    class Odd(Receiver):
        async def answer(self, path, writer):
            content = b"\x00\xff" * 1500
            writer.write(b"HTTP/1.1 500 No\r\nContent-Length: %d\r\n\r\n" % len(content) + content)

    with receiving(Odd()) as odd:
        response = post(odd.url())

    assert "\x00" not in response.body
    assert len(response.body.encode()) <= STORED_BYTES


def test_huge_head_is_refused():
    class Huge(Receiver):
        async def answer(self, path, writer):
            writer.write(b"HTTP/1.1 200 OK\r\n" + b"X-Long: " + b"x" * 200_000 + b"\r\n\r\n")

    with receiving(Huge()) as huge:
        response = post(huge.url())

    assert (response.status, response.is_success) == (None, False)


def test_kept_connection_that_was_closed_is_replaced():
    class Closing(Receiver):
        async def answer(self, path, writer):
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            await writer.drain()
            writer.close()

    with receiving(Closing()) as closing:
        responses = post(*[closing.url()] * 5)

    assert [response.is_success for response in responses] == [True] * 5


def test_attempt_is_one_request_on_a_new_connection(receiver):
    assert not post(receiver.url("/close")).is_success

    assert (receiver.connections, len(receiver.received)) == (1, 1)


def test_kept_connection_closed_at_the_next_request_is_replaced():
    class Once(Receiver):
        answered = 0

        async def answer(self, path, writer):
            self.answered += 1
            if self.answered == 2:
                writer.close()
            else:
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    with receiving(Once()) as once:
        responses = post(once.url(), once.url())

    assert [response.is_success for response in responses] == [True, True]
    assert (once.connections, len(once.received)) == (2, 3)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://127.0.0.1:1/", "No connection"),
        ("http://nowhere.invalid/", "does not resolve"),
        ("gopher://127.0.0.1/", "refused"),
    ],
)
def test_reason_is_reported(url, why):
    assert why in post(url, time_limit=5).error


def test_connection_closed_without_answer_is_reported(receiver):
    assert "closed" in post(receiver.url("/close")).error


def test_https_without_a_valid_certificate_is_no_connection(receiver):
    response = post(receiver.url().replace("http:", "https:"), time_limit=0.5)

    assert response.status is None
    assert receiver.received == []


def test_server_chooses_no_prime_for_the_key_exchange():
    kept, usual = tls_context(), ssl.create_default_context()
    left_out = {cipher["name"] for cipher in usual.get_ciphers()} - {
        cipher["name"] for cipher in kept.get_ciphers()
    }
    assert left_out
    assert all(name.startswith("DHE-") for name in left_out)
    assert (kept.security_level, kept.verify_mode) == (usual.security_level, ssl.CERT_REQUIRED)


def test_silent_name_server_takes_no_thread_from_other_work(receiver, monkeypatch):
    """A worker's jobs run in the threads of its event loop; more names than there are of these wait here."""
    release, asked, names = threading.Event(), [], 64

    def look_up(host, *given, **more):
        asked.append(host)
        release.wait(PATIENCE)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))]

    async def run():
        client = EndpointClient(time_limit=PATIENCE)
        sent = [
            asyncio.create_task(client.post(f"http://name{number}.example:{receiver.port}/ok", b"{}", {}))
            for number in range(names)
        ]
        await asyncio.to_thread(wait_for, lambda: len(asked) == names)
        release.set()
        try:
            return await asyncio.gather(*sent)
        finally:
            await client.close()

    monkeypatch.setattr(socket, "getaddrinfo", look_up)

    assert {response.status for response in asyncio.run(run())} == {200}
