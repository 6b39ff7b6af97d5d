"""What a Sentry or an OpenTelemetry collector would be sent, on loopback."""

import contextlib
import gzip
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import brotli

from tests.support.patience import PATIENCE

# The SDK compresses with Brotli where that package is installed.
DECODERS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.decompress, "br": brotli.decompress}


@dataclass
class Collector:
    port: int = 0
    received: list[tuple[str, bytes]] = field(default_factory=list)

    def wait_for(self, wanted: Callable[[str, bytes], Any], seconds: float = PATIENCE) -> Any:
        """The first that is wanted, as `wanted` makes it of path and body."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for path, body in list(self.received):
                if match := wanted(path, body):
                    return match
            time.sleep(0.05)
        raise AssertionError([path for path, _ in self.received])


@contextlib.contextmanager
def collecting() -> Iterator[Collector]:
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            decode = DECODERS.get(self.headers.get("Content-Encoding", ""), bytes)
            collector.received.append((self.path, decode(body)))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *ignored: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
