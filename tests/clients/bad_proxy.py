"""A proxy that loses, repeats and delays requests and answers, and says 429 or 503 of what was done."""

import contextlib
import http.client
import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from tests.support.patience import PATIENCE

KEPT = (
    "content-type",
    "content-encoding",
    "etag",
    "link",
    "location",
    "retry-after",
    "ratelimit",
    "idempotent-replayed",
)
# What happens to one request, and how often in a hundred.
FATES = {
    "passes": 50,
    "is cut before": 8,
    "is cut after": 12,
    "is cut within the answer": 8,
    "is late": 6,
    "is 503 after": 8,
    "is 429 before": 4,
    "is 502 after": 4,
}

# Seconds.
LATE_ANSWER = 4


class Proxy(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, target: str, seed: int, fates: Mapping[str, int] = FATES) -> None:
        self.fates_of = fates
        self.target = urlsplit(target).netloc
        self.chance = random.Random(seed)
        self.fates: Counter[str] = Counter()
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Connections that were cut are the point."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Proxy

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        [fate] = self.server.chance.choices(*zip(*self.server.fates_of.items(), strict=True))
        self.server.fates[fate] += 1
        if self.is_kept_back(fate, body):
            return None
        status, headers, response = self.forward(body)
        if fate == "is answered late":
            time.sleep(LATE_ANSWER)
        if fate == "is cut after":
            return self.cut()
        if fate.endswith("after"):
            return self.refuse(int(fate.split()[1]))
        self.send_response(status)
        for name, value in headers:
            if name.lower() in KEPT:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(response)))
        self.end_headers()
        if fate == "is cut within the answer":
            self.wfile.write(response[: len(response) // 2])
            return self.cut()
        self.wfile.write(response)
        return None

    do_GET = do_POST

    def is_kept_back(self, fate: str, body: bytes) -> bool:
        """Whether the request ends here; what is late or repeated goes on."""
        if fate == "is cut before":
            self.cut()
        elif fate == "is 429 before":
            self.refuse(429)
        elif fate == "is lost":
            self.refuse(204)
        elif fate == "is overtaken":
            self.forward_later(body)
        elif fate == "is late":
            time.sleep(self.server.chance.uniform(0.1, 0.6))
            return False
        elif fate == "is repeated":
            self.forward(body)
            return False
        else:
            return False
        return True

    def forward(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        connection = http.client.HTTPConnection(self.server.target, timeout=PATIENCE)
        with contextlib.closing(connection):
            headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
            connection.request(self.command, self.path, body, headers)
            response = connection.getresponse()
            return response.status, response.getheaders(), response.read()

    def forward_later(self, body: bytes) -> None:
        """Reports success at once; others overtake the request meanwhile."""

        def forward() -> None:
            with contextlib.suppress(OSError, http.client.HTTPException):
                self.forward(body)

        # The next request of this connection would replace what is forwarded.
        self.close_connection = True
        threading.Timer(self.server.chance.uniform(1, 3), forward).start()
        self.refuse(204)

    def refuse(self, status: int) -> None:
        self.send_response(status)
        if status != 502:
            self.send_header("Retry-After", "0")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def cut(self) -> None:
        self.close_connection = True
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def proxied(target: str, *, seed: int = 7, fates: Mapping[str, int] = FATES) -> Iterator[Proxy]:
    with Proxy(target, seed, fates) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
            thread.join()
