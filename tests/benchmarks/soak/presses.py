"""The print shops of `production`: each takes jobs, counts them, reports on them, and has faults of its own.

The servers of SFTP and of Site Flow are processes of their own: senders are forked, and a connection that the server
cuts would stay open in a copy of it.
"""

import errno
import json
import os
import random
import signal
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

FAULT_SHARE = 0.1
# An operation of SFTP, or a request of Site Flow: a job has about ten of the one and two of the other.
OPERATION_SHARE, REQUEST_SHARE = 0.012, 0.06
# One job in so many is refused by the first press, at each of its tries.
REFUSED_OF = 40
LATE_SECONDS = 6.0
HANG_SECONDS, TIME_LIMIT = 3.0, 2
STATES = ("InProduction", "Shipped")
# Kills the sender of the job with this number, or does nothing.
Kill = Callable[[str], None]
IsCalm = Callable[[], bool]


def is_refused(number: str) -> bool:
    return zlib.crc32(number.encode()) % REFUSED_OF == 0


class FolderPress:
    """Takes, counts and reports; a job that comes twice is seen here."""

    adapter = "folder"
    # Orders accepted in a second.
    rate = 10.0
    items: Sequence[dict[str, Any]] = ({"ProductID": "card", "Quantity": 100},)

    def __init__(self, root: Path, code: str, chance: random.Random, is_calm: IsCalm) -> None:
        self.root, self.code, self.chance, self.is_calm = root / code, code, chance, is_calm
        self.hot, self.back, self.shelf = (self.root / name for name in ("in", "out", "taken"))
        for folder in (self.hot, self.back, self.shelf):
            folder.mkdir(parents=True)
        self.taken: Counter[str] = Counter()
        self.waiting: list[tuple[float, str, str]] = []
        self.incomplete: list[str] = []
        # The number of the job that a thread of a sender submits.
        self.submitted = threading.local()

    def open(self) -> Any:
        """Starts it, and makes its provider."""
        from production.providers.services import ProviderValues, save_provider

        values = ProviderValues(self.code, self.code.title(), self.adapter, self.settings())
        self.provider = save_provider(values=values)
        return self.provider

    def settings(self) -> dict[str, Any]:
        return {"folder": str(self.hot), "return_folder": str(self.back)}

    def stop(self) -> None:
        """From now on it cannot be reached."""
        self.hot.rename(self.root / "away")

    def close(self) -> None:
        """At the end of the run."""

    def look(self) -> None:
        for number in self.arrived():
            self.taken[number] += 1
            now = time.monotonic()
            for state in STATES:
                for _ in range(2 if self.chance.random() < FAULT_SHARE else 1):
                    self.waiting.append((now + self.chance.uniform(0.2, LATE_SECONDS), number, state))
        now = time.monotonic()
        due = [entry for entry in self.waiting if entry[0] <= now]
        self.waiting = [entry for entry in self.waiting if entry[0] > now]
        for _, number, state in due:
            # Late ones say when it was.
            self.report(number, state, datetime.now(UTC) - timedelta(seconds=self.chance.uniform(0, 60)))

    def arrived(self) -> Iterator[str]:
        for folder in self.hot.iterdir() if self.hot.is_dir() else ():
            if folder.name.startswith("."):
                continue
            names = {path.suffix for path in folder.iterdir()}
            if names != {".json", ".xjdf"}:
                self.incomplete.append(f"{folder.name}: {sorted(names)}")
            folder.rename(self.shelf / f"{folder.name}-{time.time_ns()}")
            yield folder.name

    def report(self, number: str, state: str, at: datetime) -> None:
        values = {"JobNumber": number, "State": state, "ReportID": f"{number}-{state}", "At": at.isoformat()}
        if state == "Shipped":
            values |= {"Carrier": "UPS", "TrackingNumber": f"1Z{number}"}
        draft = self.back / f".{number}-{time.time_ns()}.tmp"
        draft.write_text(json.dumps(values))
        draft.rename(self.back / f"{number}-{time.time_ns()}.json")

    def hurt(self, kill: Kill, chance: random.Random) -> None:
        """Faults in a sender: a full disk, an answer that is lost, a kill between write and rename, refusals."""
        from production.adapters import folder
        from production.adapters.open_folder import OpenFolder

        move, write = folder.FolderAdapter._move, OpenFolder.write

        def killing_move(adapter: Any, hot: OpenFolder, entry: Any) -> None:
            kill(self.submitted.number)
            move(adapter, hot, entry)

        def full_write(place: OpenFolder, name: str, content: bytes) -> None:
            if not self.is_calm() and chance.random() < FAULT_SHARE / 4:
                raise OSError(errno.ENOSPC, "No space left on device", name)
            write(place, name, content)

        folder.FolderAdapter._move = killing_move  # type: ignore[method-assign]
        OpenFolder.write = full_write  # type: ignore[method-assign]
        self.hurt_submit(folder.FolderAdapter, "folder", chance)

    def hurt_submit(self, adapter: Any, named_by: str, chance: random.Random) -> None:
        """The first press refuses some jobs; answers of both are lost."""
        from production.interface import ProviderRefused, ProviderUnavailable

        submit, ours = adapter.submit, self.settings()[named_by]

        def hurt_submit(press_class: Any, job: Any) -> Any:
            if press_class._settings[named_by] == ours and is_refused(job.number):
                raise ProviderRefused("There is no such paper.")
            self.submitted.number = job.number
            response = submit(press_class, job)
            if not self.is_calm() and chance.random() < FAULT_SHARE / 2:
                raise ProviderUnavailable("The connection was cut after it was taken.")
            return response

        adapter.submit = hurt_submit


class ServedPress(FolderPress):
    """With a server in a process of its own, which ends with this one."""

    pid = 0

    def settings(self) -> dict[str, Any]:
        if not self.pid:
            self.pid, self.served = _start_server(self.serve)
        return self.served

    def serve(self, tell: Callable[[dict[str, Any]], None]) -> None:
        raise NotImplementedError

    def stop(self) -> None:
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)

    close = stop


class SftpPress(ServedPress):
    adapter = "sftp"
    # Each job is a connection with its key exchange.
    rate = 4.0

    def serve(self, tell: Callable[[dict[str, Any]], None]) -> None:
        from tests.support.production.sftp_server import PASSWORD, cut, cut_before, running_sftp_server

        def fault(*acts: Callable[..., None]) -> Callable[..., None]:
            def act(operation: str, path: str, channel: Any) -> None:
                if not self.is_calm() and self.chance.random() < OPERATION_SHARE:
                    self.chance.choice(acts)(operation, path, channel)

            return act

        with running_sftp_server(self.root) as server:
            server.fault, server.fault_after = fault(cut_before, _disk_full), fault(cut)
            tell(server.settings() | {"password": PASSWORD})

    def hurt(self, kill: Kill, chance: random.Random) -> None:
        """Kills between the marker of a job and its rename, answers that do not come in time, refusals."""
        from production.adapters import sftp, sftp_drop

        release = sftp_drop._release

        async def killing_release(*values: Any) -> bool:
            kill(self.submitted.number)
            moved = await release(*values)
            if not self.is_calm() and chance.random() < FAULT_SHARE / 4:
                raise TimeoutError
            return moved

        sftp_drop._release = killing_release
        self.hurt_submit(sftp.SftpAdapter, "port", chance)


class SiteFlowPress(ServedPress):
    """Says in a file which items it has taken, and of which order; its postbacks come to the service's own address.

    It reports the printing of each item, and the one parcel of each order.
    """

    adapter = "siteflow"
    # Each order is validated and placed, and its postbacks are taken in this process.
    rate = 4.0
    items = ({"ProductID": "card-two-sided", "Quantity": 100},) * 2

    def __init__(self, *values: Any) -> None:
        super().__init__(*values)
        (self.root / "orders").touch()
        self.log, self.rest = (self.root / "orders").open(), ""
        self.order_of: dict[str, str] = {}

    def serve(self, tell: Callable[[dict[str, Any]], None]) -> None:
        from tests.support.production.siteflow import SECRET, running_siteflow

        log = os.open(self.root / "orders", os.O_WRONLY | os.O_APPEND)

        def fault(method: str, path: str, moment: str) -> Any:
            if self.is_calm() or self.chance.random() >= REQUEST_SHARE / 2:
                return None
            kind = self.chance.choice([429, 503, "cut", "hang"] if moment == "before" else ["cut", "hang"])
            if kind == "hang":
                time.sleep(HANG_SECONDS)
            return "cut" if kind == "hang" else kind

        with running_siteflow() as flow:
            flow.fault = fault
            flow.refuses = is_refused if self.code == "first" else None
            flow.taken = lambda order, item: os.write(log, f"{order} {item}\n".encode())
            tell(flow.settings(secret=SECRET, time_limit=TIME_LIMIT))

    def arrived(self) -> Iterator[str]:
        *lines, self.rest = (self.rest + self.log.read()).split("\n")
        for line in lines:
            order, item = line.split()
            self.order_of[item] = order
            yield item

    def report(self, number: str, state: str, at: datetime) -> None:
        from django.test import Client

        from production.providers.selectors import postback_url

        body: dict[str, Any] = {
            "timestamp": at.isoformat(),
            "sourceOrderId": self.order_of[number],
            "status": {"InProduction": "printed", "Shipped": "shipped"}[state],
        }
        if state == "Shipped":
            body["shipment"] = {"carrier": {"name": "UPS"}, "trackingNumber": f"1Z{self.order_of[number]}"}
        else:
            body["sourceItemId"] = number
        response = Client().post(
            urlsplit(postback_url(self.provider)).path, body, content_type="application/json"
        )
        if response.status_code != 200:
            self.incomplete.append(f"{number}: postback {response.status_code} {response.content[:200]!r}")

    def hurt(self, kill: Kill, chance: random.Random) -> None:
        """Kills after Site Flow has an order and before it is written down."""
        from production.adapters import http

        send = http.send_request

        def killing_send(method: str, url: str, body: bytes, *values: Any, **named: Any) -> Any:
            try:
                return send(method, url, body, *values, **named)
            finally:
                if url.endswith("/api/order"):
                    kill(json.loads(body)["orderData"]["sourceOrderId"])

        http.send_request = killing_send

    def close(self) -> None:
        super().close()
        self.log.close()


PRESSES: dict[str, type[FolderPress]] = {
    press_class.adapter: press_class for press_class in (FolderPress, SftpPress, SiteFlowPress)
}


def _disk_full(*_: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def _start_server(serve: Callable[[Callable[[dict[str, Any]], None]], None]) -> tuple[int, dict[str, Any]]:
    """Its process, and the settings of its provider; it serves for as long as this process lives."""
    from django.db import connections

    connections.close_all()
    parent = os.getpid()
    reader, writer = os.pipe()

    def tell(settings: dict[str, Any]) -> None:
        os.write(writer, json.dumps(settings).encode() + b"\n")
        while os.getppid() == parent:
            time.sleep(0.5)

    if not (pid := os.fork()):
        try:
            os.close(reader)
            serve(tell)
        finally:
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader) as said:
        return pid, json.loads(said.readline())
