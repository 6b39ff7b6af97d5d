"""Slow readers of files: what holds a thread of the server, and how many of them."""

import io

import pytest
from django.core.signals import request_finished
from django.db import close_old_connections
from django.http import FileResponse, HttpResponse, StreamingHttpResponse

from fulfillment.core import sending
from fulfillment.core.sending import PIECE, in_large_pieces

CLIENT, OTHER = "198.51.100.1", "198.51.100.2"


@pytest.fixture(autouse=True)
def _eight_threads(settings):
    settings.WEB_THREADS = 8
    # The end of a response leaves connections alone, as in a web process.
    was_connected = request_finished.disconnect(close_old_connections)
    yield
    if was_connected:
        request_finished.connect(close_old_connections)
    assert sending._threads.is_unused()


def send(response, client=CLIENT):
    return in_large_pieces(response, client, lambda reason: HttpResponse(reason, status=503))


def sent(size, client=CLIENT):
    return send(FileResponse(io.BytesIO(b"x" * size), content_type="image/png"), client)


def test_files_that_hold_no_thread_are_one_piece():
    """The server takes one piece and gives the thread back; it waits for the client with the next."""
    for size in (0, 1, PIECE - 1, PIECE):
        response = sent(size)
        pieces = list(response)
        assert (sum(map(len, pieces)), len(pieces)) == (size, min(size, 1))
        assert int(response["Content-Length"]) == size


def test_large_file_is_whole_and_its_thread_free_afterwards():
    response = sent(3 * PIECE + 5)

    assert [len(piece) for piece in response] == [PIECE, PIECE, PIECE, 5]
    assert sending._threads.held_by(CLIENT) == 1
    response.close()
    response.close()


class BrokenFile(io.BytesIO):
    """As of a disk that fails, or a bucket that answers no more."""

    def __init__(self, good):
        super().__init__(b"x" * good)
        self.good = good

    def read(self, size=-1):
        if self.tell() >= self.good:
            raise OSError(5, "Input/output error")
        return super().read(size)


@pytest.mark.parametrize("good", [0, 3 * PIECE // 2])
def test_file_that_cannot_be_read_is_refused_and_closed(good):
    """It was an answer 500 of the web server, and its file and connection stayed open."""
    file = BrokenFile(good)
    refused = send(FileResponse(file))

    assert refused.status_code == 503
    assert b"cannot be read right now" in refused.content
    refused.close()
    assert file.closed


def test_slow_readers_leave_half_of_the_threads():
    """One client has all but one of those that send."""
    held = [sent(2 * PIECE) for _ in range(3)]
    refused = sent(2 * PIECE)
    assert refused.status_code == 503
    assert b"Try again in 2 seconds" in refused.content
    assert sent(PIECE).status_code == 200

    held.append(sent(2 * PIECE, OTHER))
    assert [one.status_code for one in held] == [200] * 4
    assert sent(2 * PIECE, "198.51.100.3").status_code == 503
    for one in held:
        one.close()
    last = sent(2 * PIECE)
    assert last.status_code == 200
    last.close()


def test_a_refused_file_is_closed_with_the_refusal(settings):
    settings.WEB_THREADS = 2
    first, file = sent(2 * PIECE), io.BytesIO(b"x" * 2 * PIECE)
    refused = send(FileResponse(file))

    assert refused.status_code == 503
    refused.close()
    assert file.closed
    first.close()


def test_large_answers_are_sent_as_large_files_are():
    """Such as pages of the API; a client that takes nothing of them leaves 4 MB in memory at most."""
    answer = HttpResponse(b"x" * (2 * PIECE + 5), "application/json", 201, headers={"ETag": '"1"'})
    answer.set_cookie("name", "value")
    closed = []
    answer._resource_closers.append(lambda: closed.append(True))

    response = send(answer)
    assert (response.status_code, response["Content-Type"], response["ETag"]) == (
        201,
        "application/json",
        '"1"',
    )
    assert response.cookies["name"].value == "value"
    assert [len(piece) for piece in response] == [PIECE, PIECE, 5]
    assert (sending._threads.held_by(CLIENT), closed) == (1, [])
    response.close()
    assert closed == [True]


def test_slow_readers_of_large_answers_leave_half_of_the_threads():
    held = [send(HttpResponse(b"x" * 2 * PIECE)) for _ in range(3)]
    assert send(HttpResponse(b"x" * 2 * PIECE)).status_code == 503
    for one in held:
        one.close()


def test_small_pages_and_exports_are_left_as_they_are():
    page, export = HttpResponse(b"x" * PIECE), StreamingHttpResponse(iter([b"x"] * 3))

    assert send(page) is page
    assert send(export) is export
    assert list(export) == [b"x"] * 3
