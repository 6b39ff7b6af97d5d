"""A response to a request whose body was not read to its end says that the connection closes.

The server closes it then in any case (what is left of the body stands before the next request), but by itself says
nothing: a client that sends its next request on this connection would get no response.
"""

from collections.abc import Callable, Iterable
from typing import Any

from fulfillment.core.http.stopping import stopping
from fulfillment.core.text import parse_number

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class CountedBody:
    """The body of a request, which counts what is read of it: Django calls only these two methods."""

    def __init__(self, body: Any) -> None:
        self._body = body
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        return self._count_bytes(self._body.read(size))

    def readline(self, size: int = -1) -> bytes:
        return self._count_bytes(self._body.readline(size))

    def _count_bytes(self, content: bytes) -> bytes:
        self.count += len(content)
        return content


def announcing_close(application: Application) -> Application:
    """WSGI middleware: `Connection: close` if some of the body is unread, or while the process stops (RFC 9112, 9.3
    and 9.6)."""

    def respond(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        # A number too long to be read is refused with its body unread.
        length = parse_number(environ.get("CONTENT_LENGTH") or "0", most=10**19)
        is_chunked = "HTTP_TRANSFER_ENCODING" in environ
        if length == 0 and not is_chunked and not stopping.is_set():
            return application(environ, start_response)
        body = environ["wsgi.input"] = CountedBody(environ["wsgi.input"])

        def start(status: str, headers: list[tuple[str, str]], *arguments: Any) -> Any:
            if stopping.is_set() or is_chunked or length is None or body.count < length:
                headers = [*headers, ("Connection", "close")]
            return start_response(status, headers, *arguments)

        return application(environ, start)

    return respond
