"""A double of HP Site Flow on a loopback port: signatures, validation, orders, cancellation, postbacks, faults.

HP's public SDK samples (Python) order from it as from the original.
"""

import contextlib
import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.support.patience import PATIENCE

TOKEN, SECRET = "1234567890", "f" * 40
HASHES = {"SHA256": hashlib.sha256, "SHA1": hashlib.sha1}
SKEW_SECONDS = 15 * 60
DATES = ("%Y-%m-%dT%H:%M:%S.%fZ", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M:%S")
SHIP_TO = ("name", "address1", "town", "postcode", "isoCountry")


@dataclass
class SiteFlow:
    """`fault` is called with method, path and "before" or "after"; it returns a status, "cut", "page", or None."""

    port: int = 0
    orders: dict[str, dict[str, Any]] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    cancelled: set[str] = field(default_factory=set)
    printing: set[str] = field(default_factory=set)
    skus: set[str] | None = None
    destinations: frozenset[str] = frozenset({"oneflow", "press"})
    clock_ahead: float = 0
    fault: Callable[[str, str, str], int | str | None] | None = None
    refuses: Callable[[str], bool] | None = None  # items by their number
    taken: Callable[[str, str], object] | None = None  # is called once with the numbers of order and item
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def settings(self, **changes: object) -> dict[str, object]:
        return {"url": self.url, "token": TOKEN, "destination": "press", "account": "source", **changes}

    def postback(
        self, number: str, status: str, at: str = "2026-05-04T12:00:00.000Z", **more: object
    ) -> bytes:
        return json.dumps({"timestamp": at, "sourceOrderId": number, "status": status, **more}).encode()

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, dict[str, Any]]:
        if (method, path) == ("POST", "/api/order/validate"):
            mistakes, _ = self.check(body)
            return _refused(400, mistakes) if mistakes else (200, {"valid": True})
        if (method, path) == ("POST", "/api/order"):
            return self.take(body)
        parts = path.split("/")
        if method == "PUT" and parts[:3] == ["", "api", "order"] and parts[-1] == "cancel":
            return self.cancel(parts[-2])
        return 404, {"error": {"code": 404, "message": "Not found"}}

    def check(self, body: bytes) -> tuple[list[dict[str, str]], dict[str, Any]]:
        try:
            content = json.loads(body)
            content = (
                json.loads(content) if isinstance(content, str) else content
            )  # submit-json.py sends it so
            destination, data = content["destination"]["name"], content["orderData"]
        except (ValueError, KeyError, TypeError):
            return [{"path": "", "message": "is not an order"}], {}
        mistakes = [] if destination in self.destinations else [_mistake("destination.name", "is not known")]
        if not data.get("sourceOrderId"):
            mistakes.append(_mistake("orderData.sourceOrderId", "is required"))
        mistakes += [
            _mistake(f"orderData.{name}", "is required")
            for name in ("items", "shipments")
            if not data.get(name)
        ]
        for position, item in enumerate(data.get("items") or []):
            mistakes += self.check_item(f"orderData.items[{position}]", item)
        for position, shipment in enumerate(data.get("shipments") or []):
            for name in SHIP_TO:
                if not shipment.get("shipTo", {}).get(name):
                    mistakes.append(_mistake(f"orderData.shipments[{position}].shipTo.{name}", "is required"))
            if not ({"code", "alias"} & set(shipment.get("carrier", {}))):
                mistakes.append(_mistake(f"orderData.shipments[{position}].carrier", "is required"))
            mistakes += [
                _mistake(f"orderData.shipments[{position}].attachments", "need a path and a type")
                for file in shipment.get("attachments") or []
                if not file.get("type") or not str(file.get("path", "")).startswith("http")
            ]
        return mistakes, data

    def check_item(self, path: str, item: dict[str, Any]) -> list[dict[str, str]]:
        mistakes = []
        if not item.get("sourceItemId"):
            mistakes.append(_mistake(f"{path}.sourceItemId", "is required"))
        if self.refuses and self.refuses(item.get("sourceItemId", "")):
            mistakes.append(_mistake(f"{path}.sku", "is out of stock"))
        if self.skus is not None and item.get("sku") not in self.skus:
            mistakes.append(_mistake(f"{path}.sku", f"{item.get('sku')} is not a product"))
        if not isinstance(item.get("quantity"), int) or item["quantity"] < 1:
            mistakes.append(_mistake(f"{path}.quantity", "must be at least 1"))
        return mistakes + [
            _mistake(f"{path}.components", "need a code and a path")
            for part in item.get("components") or [{}]
            if not part.get("code") or not str(part.get("path", "")).startswith("http")
        ]

    def take(self, body: bytes) -> tuple[int, dict[str, Any]]:
        mistakes, data = self.check(body)
        if mistakes:
            return _refused(400, mistakes)
        number = data["sourceOrderId"]
        with self.lock:
            if number in self.orders:
                return _refused(400, [_mistake("orderData.sourceOrderId", f"{number} already exists")])
            self.orders[number] = data
            for item in data["items"] if self.taken else ():
                self.taken(number, item["sourceItemId"])
        return 201, {"order": {"_id": f"of-{number}", "orderData": data}}

    def cancel(self, number: str) -> tuple[int, dict[str, Any]]:
        number = number.removeprefix("of-")
        with self.lock:
            if number not in self.orders:
                return 404, {"error": {"code": 404, "message": "Order not found"}}
            if number in self.printing:
                return 400, {"error": {"code": 400, "message": "Order is in production"}}
            if number in self.cancelled:
                return 400, {"error": {"code": 400, "message": "Order has already been cancelled"}}
            self.cancelled.add(number)
        return 200, {"order": {"_id": f"of-{number}"}}


def is_signed(method: str, path: str, headers: Any, clock_ahead: float = 0) -> bool:
    date = headers.get("x-oneflow-date") or headers.get("x-hp-hmac-date") or ""
    given = headers.get("x-oneflow-authorization") or headers.get("x-hp-hmac-authentication") or ""
    algorithm = headers.get("x-oneflow-algorithm") or headers.get("x-hp-hmac-algorithm") or "SHA1"
    token, _, signature = given.partition(":")
    text = f"{method} {unquote(path)} {date}".encode()
    wanted = hmac.new(SECRET.encode(), text, HASHES.get(algorithm, hashlib.sha256)).hexdigest()
    return token == TOKEN and hmac.compare_digest(signature, wanted) and _is_recent(date, clock_ahead)


def _is_recent(date: str, clock_ahead: float) -> bool:
    for form in DATES:
        with contextlib.suppress(ValueError):
            moment = datetime.strptime(date, form).replace(tzinfo=UTC)
            return abs((datetime.now(UTC) - moment).total_seconds() + clock_ahead) < SKEW_SECONDS
    return False


def _mistake(path: str, message: str) -> dict[str, str]:
    return {"path": path, "message": message}


def _refused(status: int, mistakes: list[dict[str, str]]) -> tuple[int, dict[str, Any]]:
    return status, {"error": {"code": 208, "message": "Validation failed", "validations": mistakes}}


class _Handler(BaseHTTPRequestHandler):
    siteflow: SiteFlow
    protocol_version = "HTTP/1.1"

    def serve(self) -> None:
        flow, path = self.siteflow, urlsplit(self.path).path
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        flow.requests.append((self.command, path))
        if self._act("before", path):
            return
        if is_signed(self.command, path, self.headers, flow.clock_ahead):
            status, content = flow.answer(self.command, path, body)
        else:
            status, content = 401, {"error": {"code": 401, "message": "Signature mismatch"}}
        if not self._act("after", path):
            self._reply(status, content)

    do_GET = do_POST = do_PUT = serve

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Quiet."""

    def _act(self, moment: str, path: str) -> bool:
        fault = self.siteflow.fault(self.command, path, moment) if self.siteflow.fault else None
        if fault == "cut":
            self.close_connection = True
            self.connection.close()
        elif fault == "page":
            self._write(200, b"\xef\xbb\xbf\n<!DOCTYPE html><title>Back soon</title>")
        elif fault is not None:
            self._reply(int(fault), {"error": {"message": "fault"}})
        return fault is not None

    def _reply(self, status: int, content: dict[str, Any]) -> None:
        self._write(status, json.dumps(content).encode())

    def _write(self, status: int, body: bytes) -> None:
        self.send_response(status)
        if status == 429:
            self.send_header("Retry-After", "7")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that was cut on purpose."""


@contextlib.contextmanager
def running_siteflow() -> Iterator[SiteFlow]:
    flow = SiteFlow()
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"siteflow": flow}))
    flow.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield flow
    finally:
        server.shutdown()
        server.server_close()
        thread.join(PATIENCE)
