"""One release is reloaded for another while clients ask: `docs/operating/releases.md`, Deploy a release."""

import contextlib
import http.client
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from fulfillment.local import supervision
from tests.benchmarks.databases import ROOT
from tests.benchmarks.soak.scene import fresh_world
from tests.support.patience import PATIENCE
from tests.support.servers.ports import free_port
from tests.support.servers.processes import descendants, end_group

RATE, CLIENTS = 240, 16
# Of the service unit: a worker that does not end within this time is killed. Granian then logs this, and at
# times of one that has just ended.
KILL_SECONDS, KILLED = 30, b"refused to gracefully stop"
MARK = "0 failed requests, with kept connections and without, and the new release answers afterwards"
CHANGED = "fulfillment"
RUN = (
    "manage.py",
    "pyproject.toml",
    "accounts",
    "applications",
    "delivery",
    "fulfillment",
    "printing",
    "production",
    "static",
    "stores",
    "templates",
)


@dataclass
class Load:
    """Requests at an even rate; every odd client opens a connection for each of them."""

    port: int
    headers: dict[str, str]
    rate: int
    failures: Counter[str] = field(default_factory=Counter)
    answers: Counter[bool] = field(default_factory=Counter)
    over: threading.Event = field(default_factory=threading.Event)

    def ask(self, number: int) -> None:
        keeps, due = bool(number % 2), time.monotonic()
        connection: http.client.HTTPConnection | None = None
        while not self.over.is_set():
            due = max(due + CLIENTS / self.rate, time.monotonic() - 1)
            time.sleep(max(0.0, due - time.monotonic()))
            if connection and _was_closed(connection):
                connection.close()
                connection = None
            try:
                connection = connection or http.client.HTTPConnection(
                    "127.0.0.1", self.port, timeout=PATIENCE
                )
                status, closes = self._ask_once(connection)
                self.answers[keeps] += 1
                if status != 200:
                    self.failures[str(status)] += 1
            except (OSError, http.client.HTTPException) as error:
                self.failures[f"{'kept' if keeps else 'new'} connection: {type(error).__name__}"] += 1
                closes = True
            if (closes or not keeps) and connection:
                connection.close()
                connection = None
        if connection:
            connection.close()

    def _ask_once(self, connection: http.client.HTTPConnection) -> tuple[int, bool]:
        connection.request("GET", "/api/v1/store/associated", headers=self.headers)
        response = connection.getresponse()
        response.read()
        return response.status, response.will_close


def _was_closed(connection: http.client.HTTPConnection) -> bool:
    """By the server, between two requests: no HTTP library sends a request on such a one."""
    return connection.sock is None or bool(select.select([connection.sock], [], [], 0)[0])


def measure(count: int = 4, *, interval: int = 15, rate: int = RATE) -> Iterator[str]:
    """From the older release to the newer one and back, in turn."""
    headers = fresh_world().as_application().credentials
    with tempfile.TemporaryDirectory(prefix="releases-") as name:
        folder, port = Path(name), free_port()
        make_releases(folder)
        load = Load(port, headers, rate)
        with tempfile.TemporaryFile() as log, web(folder, port, interval, log) as process:
            clients = [threading.Thread(target=load.ask, args=(number,)) for number in range(CLIENTS)]
            for thread in clients:
                thread.start()
            wrong, seconds = [], []
            for number in range(count):
                time.sleep(2)
                began = time.monotonic()
                wrong += reload(folder, port, process.pid, to=("newer", "older")[number % 2])
                seconds.append(time.monotonic() - began)
            time.sleep(1)
            load.over.set()
            for thread in clients:
                thread.join()
            log.seek(0)
            if KILLED in log.read() and max(seconds) > 2 * interval + KILL_SECONDS:
                wrong.append(f"a worker did not stop by itself: the reload took {max(seconds):.0f} s")
    yield (
        f"{count} reloads of {max(seconds):.0f} s at most: {load.answers[True]} requests on kept connections, "
        f"{load.answers[False]} on new ones; {sum(load.failures.values())} failed"
    )
    yield from (f"FAILED: {number} x {what}" for what, number in load.failures.items())
    yield from (f"FAILED: {each}" for each in wrong)


def make_releases(folder: Path) -> None:
    """Two of them, of the files as they are, and `current`, a link to the older. They differ in one package."""
    for release in (folder / "older", folder / "newer"):
        release.mkdir()
        for name in RUN:
            (release / name).symlink_to(ROOT / name)
        (release / CHANGED).unlink()
        shutil.copytree(ROOT / CHANGED, release / CHANGED)
        (release / ".venv").symlink_to(Path(sys.prefix))
    # By this the answers differ.
    sources = (folder / "older" / CHANGED).rglob("*.py")
    [health] = [path for path in sources if '{"status": "ok"}' in path.read_text("utf-8")]
    health.write_text(health.read_text("utf-8").replace('{"status": "ok"}', '{"status": "older"}'), "utf-8")
    (folder / "current").symlink_to("older")


@contextlib.contextmanager
def web(folder: Path, port: int, interval: int, log: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """As the unit starts it."""
    unit = (ROOT / "docs" / "deploy" / "fulfillment-web.service").read_text("utf-8")
    command = re.search(r"^ExecStart=(.*)$", unit, re.MULTILINE)[1].replace("/opt/fulfillment", str(folder))
    command = command.replace("--port 8000", f"--port {port}").replace(
        "--respawn-interval 15", f"--respawn-interval {interval}"
    )
    process = subprocess.Popen(
        shlex.split(command),
        cwd=folder,
        env=os.environ | {"STATIC_ROOT": str(folder / "static"), "ALLOWED_HOSTS": "127.0.0.1"},
        stdout=log,
        stderr=log,
        start_new_session=True,
        preexec_fn=supervision.end_with_parent,
    )
    try:
        deadline = time.monotonic() + PATIENCE
        while release_at(port) is None:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield process
    finally:
        end_group(process)


def reload(folder: Path, port: int, pid: int, *, to: str) -> list[str]:
    """As the documents say; returns what is wrong afterwards."""
    before = set(descendants(pid))
    link = folder / "current.new"
    link.symlink_to(to)
    link.rename(folder / "current")
    os.kill(pid, signal.SIGHUP)
    deadline = time.monotonic() + 2 * PATIENCE
    while before & set(descendants(pid)):
        if time.monotonic() > deadline:
            return [f"processes of the release before {to} are still there"]
        time.sleep(0.1)
    said = Counter(release_at(port) for _ in range(20))
    expected = "ok" if to == "newer" else "older"
    return [] if set(said) == {expected} else [f"after the reload to {to}, /healthz said {dict(said)}"]


def release_at(port: int) -> str | None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", "/healthz")
        return re.search(r'"status": "(\w+)"', connection.getresponse().read().decode())[1]
    except OSError:
        return None
    finally:
        connection.close()
