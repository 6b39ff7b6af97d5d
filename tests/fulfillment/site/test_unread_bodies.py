"""A refused request whose body was not read ends its connection with a word, so that no client sends the next on it."""

import contextlib
import io
import time
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from fulfillment.site.unread_bodies import announcing_close
from tests.support.patience import PATIENCE
from tests.support.servers.live_server import serving

BODIES = {"small": b"{}", "deep": b"[" * 60_000 + b"]" * 60_000, "large": b"x" * 4_000_000}


def said_by(length, *, read, **environ):
    headers = []

    def application(environ, start_response):
        body = environ["wsgi.input"]
        _ = body.readline(read) + body.read(0) if read else b""
        start_response("403 Forbidden", [("Content-Type", "text/plain")])
        return [b""]

    asked = {"CONTENT_LENGTH": length, "wsgi.input": io.BytesIO(b"x" * 10), **environ}
    announcing_close(application)(asked, lambda status, given: headers.extend(given))
    return dict(headers).get("Connection")


@pytest.mark.parametrize(
    ("length", "read", "environ"),
    [
        pytest.param("10", 0, {}, id="unread"),
        pytest.param("10", 9, {}, id="half read"),
        pytest.param("9" * 30, 0, {}, id="unreadable length"),
        pytest.param("", 0, {"HTTP_TRANSFER_ENCODING": "chunked"}, id="unknown length"),
    ],
)
def test_answer_before_the_end_of_a_body_announces_the_close(length, read, environ):
    assert said_by(length, read=read, **environ) == "close"


@pytest.mark.parametrize(("length", "read"), [("10", 10), ("0", 0), ("", 0)])
def test_answer_to_a_body_read_to_its_end_keeps_the_connection(length, read):
    assert said_by(length, read=read) is None


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_client_that_keeps_its_connection_gets_an_answer_to_each_request(tmp_path):
    with serving(tmp_path) as served:
        address = urlsplit(served.url).netloc
        for body in BODIES.values():
            for delay in (0, 0.05):
                # This client opens a new connection where the answer before announced the close.
                with contextlib.closing(HTTPConnection(address, timeout=PATIENCE)) as kept:
                    for _ in range(5):
                        assert refused(kept, body, delay) == 401
                        kept.request("GET", "/healthz")
                        response = kept.getresponse()
                        response.read()
                        assert response.status == 200


def refused(kept, body, delay):
    """The status of an order without a token, whose body comes after its head."""
    kept.putrequest("POST", "/api/v1/store/demo/order")
    kept.putheader("Content-Type", "application/json")
    kept.putheader("Content-Length", str(len(body)))
    kept.endheaders()
    time.sleep(delay)
    # The answer may come, and the connection end, before all is sent.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        kept.send(body)
    response = kept.getresponse()
    response.read()
    return response.status
