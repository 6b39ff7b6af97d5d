"""Two machines of the service before a database cluster, each with web processes, worker, PgBouncer and HAProxy."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import requests

from fulfillment.local import supervision
from tests.support.cluster.machines import POSTGRES, REST, Cluster
from tests.support.cluster.programs import (
    database_owner,
    make_folder,
    pooled_url,
    shipped,
    start,
    start_pgbouncer,
    write,
)
from tests.support.database.tables import load_demo_catalog, load_tables
from tests.support.patience import PATIENCE, wait_for
from tests.support.servers.granian import granian_command
from tests.support.servers.live_server import served_environment
from tests.support.servers.ports import free_port
from tests.support.servers.proxies import Proxy, proxied

ROOT = Path(__file__).resolve().parents[3]
WORKERS, THREADS = 1, 8
# They count, but refuse no request.
LIMITS = {
    "DEMO_ADVANCE_SECONDS": "0",
    "ADDRESS_REQUESTS_PER_MINUTE": "1000000000",
    "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8",
}


@dataclass
class ServiceMachine:
    """`direct`, `pooler` and `web` are the ports of HAProxy, PgBouncer and the web processes."""

    folder: Path
    cluster: Cluster
    public_url: str
    direct: int = field(default_factory=free_port)
    pooler: int = field(default_factory=free_port)
    web: int = field(default_factory=free_port)
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        make_folder(self.folder, database_owner())

    @property
    def direct_url(self) -> str:
        return f"{pooled_url(self.direct)}&target_session_attrs=read-write"

    def start_proxies(self) -> None:
        text = shipped("haproxy.cfg", {"127.0.0.1:5000": f"127.0.0.1:{self.direct}"})
        ports = self.cluster.ports
        text = re.sub(
            r"server (db\d) db\d:5432 check port 8008",
            lambda found: (
                f"server {found[1]} 127.0.0.1:{ports[found[1], POSTGRES]} check port {ports[found[1], REST]}"
            ),
            text,
        )
        path = write(self.folder / "haproxy.cfg", text, database_owner())
        self.running["haproxy"] = start(["haproxy", "-db", "-f", path], self.folder, database_owner())
        self.start_pooler()

    def start_pooler(self) -> None:
        self.running["pooler"] = start_pgbouncer(
            self.folder, self.pooler, host="127.0.0.1", server_port=self.direct, owner=database_owner()
        )

    def start_web(self) -> None:
        command = granian_command(self.web, workers=WORKERS, threads=THREADS)
        self.running["web"] = self._start("web", [*command, "fulfillment.wsgi:application"])

    def start_worker(self) -> None:
        self.running["worker"] = self._start("worker", [sys.executable, "manage.py", "worker"])

    def manage(self, *command: str) -> None:
        """Past the pooler."""
        past = {"DATABASE_URL": self.direct_url, "DATABASE_POOLER": "none"}
        subprocess.run(
            [sys.executable, "manage.py", *command], cwd=ROOT, env=self._environment() | past, check=True
        )

    def _start(self, name: str, command: list[str]) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.output").open("ab") as output:
            return subprocess.Popen(
                command,
                cwd=ROOT,
                env=self._environment(),
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=supervision.end_with_parent,
            )

    def _environment(self) -> Mapping[str, str]:
        return (
            served_environment(self.public_url, pooled_url(self.pooler))
            | LIMITS
            | {
                "DATABASE_POOLER": "transaction",
                "DATABASE_DIRECT_URL": self.direct_url,
                "BEHIND_TLS_PROXY": "1",
                "WEB_THREADS": str(THREADS),
                "LOG_FORMAT": "json",
            }
        )

    def is_ready(self) -> bool:
        with contextlib.suppress(requests.RequestException):
            return requests.get(f"http://127.0.0.1:{self.web}/readyz", timeout=10).ok
        return False

    def kill(self, name: str) -> None:
        os.killpg(self.running[name].pid, signal.SIGKILL)
        self.running[name].wait(PATIENCE)

    def end(self) -> None:
        for name in ("worker", "web", "pooler", "haproxy"):
            if name in self.running:
                with contextlib.suppress(ProcessLookupError):
                    self.kill(name)


def answers(url: str) -> bool:
    with contextlib.suppress(psycopg.OperationalError):
        psycopg.connect(url, connect_timeout=3).close()
        return True
    return False


@dataclass
class Service:
    machines: list[ServiceMachine]
    proxy: Proxy
    url: str


@contextlib.contextmanager
def service(cluster: Cluster, folder: Path, *, machines: int = 2) -> Iterator[Service]:
    """Demo data is in the database, and nothing is limited."""
    https = free_port()
    url = f"https://127.0.0.1:{https}"
    made = [ServiceMachine(folder / f"web{number + 1}", cluster, url) for number in range(machines)]
    upstreams = ",".join(f"127.0.0.1:{machine.web}" for machine in made)
    try:
        for machine in made:
            machine.start_proxies()
        # HAProxy takes every server for a primary until it has looked.
        wait_for(lambda: all(answers(made[0].direct_url) for _ in range(6)))
        load_tables(made[0].direct_url, made[0].manage)
        load_demo_catalog(made[0].manage)
        cluster.rows("UPDATE accounts_subscription SET requests_per_minute = 1000000")
        for machine in made:
            machine.start_web()
            machine.start_worker()
        with proxied("nginx", folder / "nginx", upstreams, https=https) as proxy:
            wait_for(lambda: all(machine.is_ready() for machine in made))
            yield Service(made, proxy, url)
    finally:
        for machine in made:
            machine.end()
