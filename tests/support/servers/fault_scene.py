"""A running service whose disks, names, mail server, bucket, clock and limits are ours to break.

Everything is in a mount namespace of its own: small file systems for the database, files, temporary files and the log,
and own /etc/hosts and /etc/resolv.conf. Start it as `fault_namespace()` says.
"""

import asyncio
import contextlib
import io
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
import requests
from PIL import Image

from applications.demo import APPLICATION_ID, APPLICATION_KEY, APPLICATION_SUBSCRIPTION_KEY
from fulfillment.local import supervision
from tests.benchmarks.soak.writers import HALVES
from tests.support.cluster.load import ORDER
from tests.support.database.tables import load_demo_catalog, load_tables
from tests.support.patience import PATIENCE, wait_for
from tests.support.servers.granian import granian_command
from tests.support.servers.live_server import served_environment
from tests.support.servers.ports import free_port
from tests.support.servers.postgres_server import Restarted, own_postgres
from tests.support.servers.serving import serving
from tests.support.servers.webhook_receiver import Receiver, receiving

ROOT = Path(__file__).resolve().parents[3]
DISKS = {"database": "400m", "media": "160m", "temp": "24m", "log": "4m"}
HOSTS = ("mail.fault.example", "hooks.fault.example", "bucket")
FOUND = "127.0.0.1 localhost " + " ".join(HOSTS) + "\n"
METRICS_TOKEN = "a-token-of-the-metrics-0123456789-abcdef"
# The demo data has other tokens and keys, and its events have no webhook.
CHECKED = {
    name: statement
    for name, statement in HALVES.items()
    if not {"token", "key", "delivery"} & set(name.split()) and "tokens" not in name
}
CONNECTIONS = 60
# One process, because each remembers for ten seconds what it found.
WORKERS, THREADS = 1, 4


def namespace_refused() -> str:
    """Why this machine allows no small file systems of our own; empty if it does."""
    if os.geteuid() != 0:
        return "Only root may mount a file system of its own."
    tried = subprocess.run(
        ["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, text=True
    )
    return tried.stderr.strip()


def in_namespace(*command: str) -> list[str]:
    return ["unshare", "--mount", "--propagation", "private", sys.executable, *command]


@dataclass
class Gate:
    """A TCP proxy; `mode` is open, slow, refusing (HTTP 403) or away (it answers nothing)."""

    target: int = 0
    mode: str = "open"
    port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.mode == "refusing":
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        else:
            with contextlib.suppress(OSError, asyncio.CancelledError):
                inside, outside = await asyncio.open_connection("127.0.0.1", self.target)
                await asyncio.gather(self._pass_on(reader, outside), self._pass_on(inside, writer))
        writer.close()

    async def _pass_on(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(65536):
            while self.mode == "away":
                await asyncio.sleep(0.05)
            await asyncio.sleep(6 if self.mode == "slow" else 0)
            sink.write(data)
            await sink.drain()
        sink.close()


@dataclass
class MailServer:
    taken: int = 0
    port: int = 0
    is_away: bool = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_away:
            writer.close()
            return
        writer.write(b"220 mail\r\n")
        is_text = False
        while line := await reader.readline():
            if is_text and line != b".\r\n":
                continue
            self.taken += is_text
            is_text = line.upper().startswith(b"DATA")
            writer.write(b"354 go on\r\n" if is_text else b"250 ok\r\n")
        writer.close()


@dataclass
class Scene:
    folder: Path
    database: Restarted
    receiver: Receiver
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    # As Prometheus does, it keeps its connection.
    watcher: requests.Session = field(default_factory=requests.Session)
    mails: MailServer = field(default_factory=MailServer)
    before: dict[str, set[Any]] = field(default_factory=dict)
    orders: dict[str, str] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    _token: str = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self, **more: str) -> None:
        """Web processes and a worker, and what systemd does: starts those that end."""
        own = {
            "MEDIA_ROOT": str(self.folder / "media"),
            "TMPDIR": str(self.folder / "temp"),
            "METRICS_TOKEN": METRICS_TOKEN,
            "WEB_THREADS": str(THREADS),
            "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8",
            "ADDRESS_REQUESTS_PER_MINUTE": "1000000",
            "DEMO_ADVANCE_SECONDS": "0",
            "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
            "EMAIL_HOST": HOSTS[0],
            "EMAIL_PORT": str(self.mails.port),
            "LOG_FORMAT": "json",
        }
        self.environment = served_environment(self.url, self.database.url) | own | more
        self.over.clear()
        for name in ("web", "worker"):
            self._start(name)
        self.watching = threading.Thread(target=self._restart_ended)
        self.watching.start()
        wait_for(self.is_well, every=0.2)

    def _start(self, name: str) -> None:
        web = [*granian_command(self.port, workers=WORKERS, threads=THREADS), "--respawn-failed-workers"]
        web += ["--respawn-interval", "1", "fulfillment.wsgi:application"]
        command = web if name == "web" else [sys.executable, "manage.py", "worker"]
        # Without room for a log there may be none for its file.
        with (self.folder / "log" / name).open("ab") as output:
            self.running[name] = subprocess.Popen(
                command,
                cwd=ROOT,
                env=self.environment,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=supervision.end_with_parent,
            )

    def _restart_ended(self) -> None:
        while not self.over.wait(1):
            for name, process in list(self.running.items()):
                if process.poll() is not None:
                    self._start(name)

    def stop(self) -> None:
        self.over.set()
        self.watching.join()
        for process in self.running.values():
            os.killpg(process.pid, signal.SIGTERM)
        for process in self.running.values():
            process.wait(PATIENCE)

    def processes(self, name: str) -> list[int]:
        """Those that do the work: the children of the web server, and the worker."""
        pid = self.running[name].pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [int(child) for child in children] if name == "web" else [pid]

    def limit(self, name: str, kind: int, of: Any) -> None:
        """Sets a soft limit of the running processes; `of` counts what they have now, None lifts it."""
        for pid in self.processes(name):
            _, hard = resource.prlimit(pid, kind)
            resource.prlimit(pid, kind, (hard if of is None else of(pid), hard))

    # What clients do

    def headers(self) -> dict[str, str]:
        if not self._token:
            data = {"grant_type": "client_credentials"}
            response = requests.post(
                f"{self.url}/oauth/token", data=data, auth=(APPLICATION_ID, APPLICATION_KEY), timeout=30
            )
            self._token = response.json()["access_token"] if response.ok else ""
        return {
            "Authorization": f"Bearer {self._token}",
            "Ocp-Apim-Subscription-Key": APPLICATION_SUBSCRIPTION_KEY,
        }

    def ask(self, method: str, path: str, *, headers: Any = None, **body: Any) -> str:
        """The status, or the name of the error without an answer."""
        try:
            response = requests.request(
                method, f"{self.url}{path}", headers=headers or self.headers(), timeout=60, **body
            )
        except (requests.RequestException, OSError) as error:
            return type(error).__name__
        if response.status_code == 401:
            self._token = ""
        if response.status_code == 503 and "Retry-After" not in response.headers:
            self.wrong.append(f"503 without Retry-After: {response.text[:200]}")
        if response.status_code == 500:
            self.wrong.append(f"{method} {path}: {response.text[:200]}")
        if response.status_code == 201 and path.endswith("/order"):
            self.orders[body["json"]["Metadata"]["Soak"]] = response.json()["OrderID"]
        return str(response.status_code)

    def read(self) -> str:
        return self.ask("GET", "/api/v1/store/demo")

    def order(self, key: str = "") -> str:
        key = key or str(uuid.uuid4())
        headers = self.headers() | {"Idempotency-Key": key}
        status = self.ask(
            "POST", "/api/v1/store/demo/order", headers=headers, json=ORDER | {"Metadata": {"Soak": key}}
        )
        if key not in self.orders:
            self.refused.add(key)
        return status

    def upload(self) -> str:
        """A picture of its own each time, of more than a megabyte."""
        content = io.BytesIO()
        Image.effect_noise((1200, 1200), 200).save(content, "PNG")
        headers = self.headers() | {"Content-Type": "image/png"}
        return self.ask("POST", "/api/v1/store/demo/asset", headers=headers, data=content.getvalue())

    def forget_password(self) -> str:
        session = requests.Session()
        page = session.get(f"{self.url}/accounts/password-reset/", timeout=30)
        token = re.search(r'csrfmiddlewaretoken" value="(\w+)"', page.text)
        data = {"csrfmiddlewaretoken": token[1] if token else "", "email": "user@demo.example"}
        return str(session.post(page.url, data=data, headers={"Referer": page.url}, timeout=30).status_code)

    def ready(self, query: str = "") -> dict[str, str]:
        """What /readyz says of each part; empty without an answer."""
        with contextlib.suppress(requests.RequestException):
            return dict(self.watcher.get(f"{self.url}/readyz{query}", timeout=20).json()["checks"])
        return {}

    def metrics(self, *, is_kept: bool = True) -> str:
        with contextlib.suppress(requests.RequestException):
            headers = {"Authorization": f"Bearer {METRICS_TOKEN}"}
            headers |= {} if is_kept else {"Connection": "close"}
            response = self.watcher.get(f"{self.url}/metrics", headers=headers, timeout=10)
            return response.text if response.ok else ""
        return ""

    def is_well(self) -> bool:
        return set(self.ready().values()) == {"ok"}

    def make_webhook(self) -> None:
        """Its receiver has a name; the demo's application gets the events of the demo's store."""
        applications = self.database.rows("SELECT id, client_id FROM applications_application")
        [application] = [
            application_id for application_id, client in applications if client == APPLICATION_ID
        ]
        url = f"http://{HOSTS[1]}:{self.receiver.port}/ok"
        status = self.ask("POST", f"/api/v1/application/{application}/webhook", json={"URL": url})
        assert status == "201", status

    # Disks, names and clock

    def fill(self, disk: str) -> None:
        with (self.folder / disk / "filler").open("wb", buffering=0) as file, contextlib.suppress(OSError):
            for size in (1 << 20, 4096, 1):
                with contextlib.suppress(OSError):
                    while file.write(b"x" * size):
                        pass

    def make_room(self, disk: str) -> None:
        (self.folder / disk / "filler").unlink()

    @contextlib.contextmanager
    def without_mail(self) -> Iterator[None]:
        self.mails.is_away = True
        try:
            yield
        finally:
            self.mails.is_away = False

    def with_bucket(self, port: int) -> dict[str, str]:
        keys = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"}
        os.environ.update(keys)
        url = f"http://{HOSTS[2]}:{port}"
        boto3.client("s3", region_name="us-east-1", endpoint_url=url).create_bucket(Bucket="prints")
        bucket = {"S3_BUCKET": "prints", "S3_REGION": "us-east-1", "S3_ENDPOINT_URL": url}
        return keys | bucket | {"FILE_STORAGE": "s3"}

    def with_clock(self) -> dict[str, str]:
        """The file `clock` has how far it is off."""
        [library] = Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")
        (self.folder / "clock").write_text("+0\n")
        return {
            "LD_PRELOAD": str(library),
            "FAKETIME_TIMESTAMP_FILE": str(self.folder / "clock"),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DISABLE_SHM": "1",
        }

    def find_names(self, is_found: bool) -> None:
        (self.folder / "hosts").write_text(FOUND if is_found else "127.0.0.1 localhost\n")


@contextlib.contextmanager
def scene() -> Iterator[Scene]:
    """Within the namespace: the service with demo data, and a webhook whose receiver has a name."""
    folder = Path("/tmp/fulfillment-faults")
    folder.mkdir(exist_ok=True)
    _mount("none", folder, "-t", "tmpfs")
    for name, size in DISKS.items():
        (folder / name).mkdir()
        _mount("none", folder / name, "-t", "tmpfs", "-o", f"size={size},mode=0755")
    (folder / "hosts").write_text(FOUND)
    # A server of names that refuses at once.
    (folder / "resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
    for name in ("hosts", "resolv.conf"):
        _mount(str(folder / name), Path("/etc") / name, "--bind")
    with (
        own_postgres(folder / "database") as database,
        receiving() as receiver,
        contextlib.ExitStack() as stack,
    ):
        database.rows(f"ALTER SYSTEM SET max_connections = {CONNECTIONS}")
        database.restart("fast")
        made = Scene(folder, database, receiver)
        made.mails.port = stack.enter_context(serving(made.mails.serve, backlog=20))
        made.environment = served_environment(made.url, database.url)
        load_tables(database.url, database.manage)
        # On a busy machine a template may take longer than it is given.
        wait_for(lambda: _is_loaded(database))
        database.rows("UPDATE accounts_subscription SET requests_per_minute = 1000000")
        yield made


def _is_loaded(database: Restarted) -> bool:
    with contextlib.suppress(subprocess.CalledProcessError):
        load_demo_catalog(database.manage)
        return True
    return False


def _mount(source: str, place: Path, *options: str) -> None:
    subprocess.run(["mount", *options, source, str(place)], check=True)
