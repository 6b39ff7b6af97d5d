"""`manage.py up`: everything a development machine needs, in one process tree."""

import argparse
import contextlib
import errno
import http.client
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
from django.conf import settings
from django.core.management import BaseCommand, CommandError, call_command, get_commands
from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor

from fulfillment.core import environment
from fulfillment.core.files.folders import make_folder
from fulfillment.core.plugins import DemoCard
from fulfillment.local import development, postgres, supervision
from fulfillment.local.schema import load_schema
from fulfillment.operations.demo import demo_card, draw_pictures, load_demo

READY_SECONDS = 60
PORT_SECONDS = 3
POLL_SECONDS = 0.2
RESTART_SECONDS = 1
WEB_SERVER, WORKER, CLIENTS = "The web server", "The worker", "The build of the client packages"
LOG_FILES = {
    WEB_SERVER: development.LOGS / "web.log",
    WORKER: development.LOGS / "worker.log",
    CLIENTS: development.LOGS / "clients.log",
}
CLIENT_PACKAGES = development.VAR / "clients"


class CannotStart(RuntimeError):
    """The service cannot start; the message is one sentence that says what to do."""


def port_number(value: str) -> int:
    if not development.is_port(value):
        raise argparse.ArgumentTypeError(
            f"the port is {value!r}; write a whole number from 1 to {development.LAST_PORT}"
        )
    return int(value)


class Command(BaseCommand):
    help = "Start the service with its database and demo data, for development."
    requires_system_checks = ()

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--host", default=environment.text("HOST", "127.0.0.1"))
        parser.add_argument(
            "--port", type=port_number, default=environment.text("PORT", development.DEFAULT_PORT)
        )
        parser.add_argument(
            "--end-with-parent", action="store_true", help="end when the process that started this one ends"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["end_with_parent"]:
            supervision.end_with_parent()
        supervision.raise_on_stop_signal()
        family = supervision.ProcessSupervisor()
        try:
            self.start(family, options["host"], options["port"])
            self.watch(family)
        except supervision.Stopped:
            self.stdout.write("\nStopping")
        except (CannotStart, CommandError, postgres.PostgresUnavailable) as error:
            self.stderr.write(str(error))
            sys.exit(1)
        finally:
            family.stop()
            close_connections()
            postgres.release(development.DATA_FOLDER)

    def start(self, family: supervision.ProcessSupervisor, host: str, port: int) -> None:
        if not settings.DEVELOPMENT:
            raise CannotStart(
                "`up` is for development mode; docs/operating/deploy.md says how to run in production."
            )
        require_free_port(host, port)
        cards: list[DemoCard] = []
        # Mails hold links that are as secret as keys.
        make_folder(development.LOGS, mode=0o700)
        make_folder(Path(settings.EMAIL_FILE_PATH))
        for log in LOG_FILES.values():
            log.unlink(missing_ok=True)
        builds_clients = not os.environ.get("CLIENT_DOWNLOADS")
        os.environ["CLIENT_DOWNLOADS"] = os.environ.get("CLIENT_DOWNLOADS") or str(CLIENT_PACKAGES)

        def load_demo_beside_start() -> None:
            start_web_server(family, host, port)
            cards.append(demo_card(load_demo()))

        steps: list[tuple[str, Callable[[], object]]] = [
            ("PostgreSQL", start_database),
            ("Migrations", migrate),
            ("Demo data", load_demo_beside_start),
            ("Web server", lambda: wait_until_ready(family, development.reachable_host(host), port)),
            ("Worker", lambda: start_worker(family)),
        ]
        for title, step in steps:
            with self.timed(title):
                step()
        self.print_card(cards[0])
        draw_pictures()
        close_connections()
        if builds_clients and are_clients_outdated():
            build_clients(family)

    @contextlib.contextmanager
    def timed(self, title: str) -> Iterator[None]:
        self.stdout.write(f"  {title:<12}", ending="")
        self.stdout.flush()
        started = time.monotonic()
        try:
            yield
        except BaseException:
            self.stdout.write("")
            raise
        self.stdout.write(self.style.SUCCESS(f"{time.monotonic() - started:5.1f} s"))

    def print_card(self, card: DemoCard) -> None:
        heading = self.style.MIGRATE_HEADING
        addresses = [
            ("Developer portal", "/"),
            ("API", settings.API_ROOT),
            ("API reference", f"{settings.API_ROOT}/docs"),
            ("Operator console", "/admin/"),
            ("Development mail", "/dev/mail"),
        ]
        self.stdout.write("")
        for title, path in addresses:
            self.stdout.write(f"  {heading(f'{title:<18}')}{settings.PUBLIC_URL}{path}")
        self.stdout.write("")
        for role, username, password in card.sign_ins:
            self.stdout.write(f"  {heading(f'{role.capitalize():<18}')}{username} / {password}")
        self.stdout.write(f"  {heading('Logs and mail     ')}{development.LOGS}")
        self.stdout.write(f"\n{card.curl}\n\n  Ctrl-C ends the service and its database.")
        self.stdout.flush()

    def watch(self, family: supervision.ProcessSupervisor) -> None:
        while not (ended := family.first_ended()) or ended[0] != WEB_SERVER:
            time.sleep(RESTART_SECONDS if ended else POLL_SECONDS)
            if ended and ended[0] == CLIENTS:
                del family.children[CLIENTS]
            elif ended:
                start_worker(family)
        raise CannotStart(
            f"{ended[0]} ended by itself (exit code {ended[1]}); the reason is in {LOG_FILES[ended[0]]}."
        )


def start_database() -> None:
    if development.uses_embedded_server():
        postgres.ensure_running(development.DATA_FOLDER)
    try:
        # Not through the pool, which would wait and hide the cause.
        psycopg.connect(settings.DATABASE_URL, connect_timeout=3).close()
    except psycopg.OperationalError as error:
        reason = str(error).strip().splitlines()[0]
        raise CannotStart(
            f"The database of DATABASE_URL does not answer ({reason}); start it, correct DATABASE_URL, or unset "
            "it to use the embedded PostgreSQL."
        ) from error


def migrate() -> None:
    if development.uses_embedded_server():
        load_schema(settings.DATABASE_URL)
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", verbosity=0, interactive=False)


def start_web_server(family: supervision.ProcessSupervisor, host: str, port: int) -> None:
    workers = environment.integer("WEB_WORKERS", min(os.cpu_count() or 1, 4), minimum=1, maximum=64)
    threads = settings.WEB_THREADS
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", "--no-ws", "--http", "1"]
    command += ["--host", host, "--port", str(port), "--workers", str(workers)]
    command += ["--blocking-threads", str(threads), "--respawn-failed-workers", "--workers-kill-timeout", "5"]
    # At "warning" the server complains about more threads than cores, which are intended.
    command += ["--log-level", "error", "fulfillment.wsgi:application"]
    family.start(WEB_SERVER, command, folder=settings.BASE_DIR, log=LOG_FILES[WEB_SERVER])


def start_worker(family: supervision.ProcessSupervisor) -> None:
    if "worker" in get_commands():
        command = [sys.executable, "manage.py", "worker"]
        family.start(WORKER, command, folder=settings.BASE_DIR, log=LOG_FILES[WORKER])


def are_clients_outdated() -> bool:
    patterns = ("python/dist/*.whl", "typescript/*.tgz")
    built = [file.stat().st_mtime for pattern in patterns for file in CLIENT_PACKAGES.glob(pattern)]
    sources = [*settings.BASE_DIR.glob("clients/**/src/**/*"), settings.BASE_DIR / "tests" / "openapi.yml"]
    return len(built) < len(patterns) or min(built) < max(file.stat().st_mtime for file in sources)


def build_clients(family: supervision.ProcessSupervisor) -> None:
    """Builds the clients of the page *Client libraries*. Without npm, or a registry for it, only that for Python."""
    command = [sys.executable, "-m", "clients.build", "--to", str(CLIENT_PACKAGES)]
    family.start(CLIENTS, command, folder=settings.BASE_DIR, log=LOG_FILES[CLIENTS])


def wait_until_ready(family: supervision.ProcessSupervisor, host: str, port: int) -> None:
    deadline = time.monotonic() + READY_SECONDS
    response = "nothing"
    while time.monotonic() < deadline:
        if ended := family.first_ended():
            raise CannotStart(
                f"{ended[0]} did not start (exit code {ended[1]}); the reason is in {LOG_FILES[ended[0]]}."
            )
        with contextlib.suppress(OSError, http.client.HTTPException):
            response = check_readiness(host, port)
            if response == "200":
                return
        time.sleep(0.05)
    raise CannotStart(
        f"The web server is not ready after {READY_SECONDS} s (/readyz responded with {response})."
    )


def check_readiness(host: str, port: int) -> str:
    request = http.client.HTTPConnection(host, port, timeout=5)
    try:
        request.request("GET", "/readyz?worker=0", headers={"Host": urlsplit(settings.PUBLIC_URL).netloc})
        response = request.getresponse()
        body = response.read(200).decode(errors="replace")
        return "200" if response.status == http.client.OK else f"{response.status}: {body}"
    finally:
        request.close()


def require_free_port(host: str, port: int) -> None:
    """Refuse a taken port; the service of a run that was just killed gets a moment to leave it."""
    deadline = time.monotonic() + PORT_SECONDS
    while error := failure_to_listen(host, port):
        if error.errno != errno.EADDRINUSE:
            raise CannotStart(
                f"The service cannot listen on {host}:{port} ({error.strerror}); set HOST to an address of this "
                "machine and PORT to a number above 1023, for example: make run HOST=127.0.0.1 PORT=8001."
            )
        if time.monotonic() > deadline:
            raise CannotStart(
                f"Port {port} on {host} is taken; end the program that uses it or choose another port, for "
                f"example: make run PORT={port + 1 if port < development.LAST_PORT else port - 1}."
            )
        time.sleep(0.1)


def failure_to_listen(host: str, port: int) -> OSError | None:
    try:
        addresses = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = addresses[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        return error
    return None


def close_connections() -> None:
    """Leave no pooled connection behind that a stopping server would have to cut."""
    for each in connections.all(initialized_only=True):
        each.close()
        each.close_pool()  # type: ignore[attr-defined]  # of PostgreSQL only
