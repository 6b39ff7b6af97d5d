"""How many threads may wait for the bodies of requests: a slow sender holds the thread that reads its body.

A share of the threads receives bodies at once (slow_clients).
A body that has arrived is read within microseconds, so that only slow senders reach the limits. A proxy that reads
bodies whole before it passes them on keeps slow senders away altogether.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from fulfillment.core.lanes import RETRY_SECONDS, LaneFull, TooManyAtOnce, client_address
from fulfillment.core.observability.instruments import count_refusal
from fulfillment.core.slow_clients import ThreadShare

_threads = ThreadShare()


class BodyStream:
    """The `wsgi.input` of a request. Reading raises TooManyAtOnce (429) or LaneFull (503) at the limits."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def read(self, *size: int) -> bytes:
        with _thread_for(client_address.get()):
            return self._stream.read(*size)

    def readline(self, *size: int) -> bytes:
        with _thread_for(client_address.get()):
            return self._stream.readline(*size)


def limit_slow_body(environ: dict[str, Any]) -> None:
    if environ.get("CONTENT_LENGTH"):
        environ["wsgi.input"] = BodyStream(environ["wsgi.input"])


@contextmanager
def _thread_for(sender: str) -> Iterator[None]:
    if not _threads.enter(sender):
        raise _refusal(sender)
    try:
        yield
    finally:
        _threads.leave(sender)


def _refusal(sender: str) -> Exception:
    count_refusal("slow bodies")
    again = f"Send bodies faster, or try again in {RETRY_SECONDS} seconds."
    if _threads.is_used_up_by(sender):
        message = f"You are sending as many slow request bodies as one address may. {again}"
        return TooManyAtOnce(message, retry_after=RETRY_SECONDS)
    return LaneFull(f"As many slow request bodies are being received as are taken at once. {again}")
