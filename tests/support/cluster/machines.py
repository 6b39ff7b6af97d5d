"""Three machines of a database cluster on loopback: Patroni, PostgreSQL and etcd with the files of docs/deploy/ha."""

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import requests

from tests.support.cluster.gates import Network, processes_below
from tests.support.cluster.programs import PASSWORD, database_owner, make_folder, shipped, start, write
from tests.support.patience import PATIENCE, wait_for
from tests.support.servers.ports import free_port

MACHINES = ("db1", "db2", "db3")
POSTGRES, REST, ETCD, PEERS = 5432, 8008, 2379, 2380
SUPERUSER = "change-me-superuser"
ROLES = ["leader", "replica", "sync_standby"]


@dataclass
class Cluster:
    """`ports` are where a machine listens, `gates` where the others find it; both by machine and usual port."""

    folder: Path
    network: Network
    etcd_machines: tuple[str, ...]
    ports: dict[tuple[str, int], int] = field(default_factory=dict)
    gates: dict[tuple[str, int], int] = field(default_factory=dict)
    children: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, machine: str) -> None:
        self.start_etcd(machine)
        self.start_patroni(machine)

    def start_etcd(self, machine: str) -> None:
        """Also after an end: its data decides that it is a member already."""
        if machine not in self.etcd_machines:
            return
        text = _others(
            shipped("etcd.env", {"/var/lib/etcd/fulfillment": str(self.folder / machine / "etcd")}), machine
        )
        members = ",".join(f"{machine}=http://{machine}:2380" for machine in self.etcd_machines)
        text = re.sub(r"(?m)^(ETCD_INITIAL_CLUSTER)=.*", rf"\1={members}", text)
        text = self._addresses(self._listening(text, machine))
        values = dict(line.split("=", 1) for line in text.splitlines() if line and not line.startswith("#"))
        self._run(machine, ["etcd"], values)

    def start_patroni(self, machine: str) -> None:
        home = self.folder / machine
        replaced = {
            "/var/lib/postgresql/15/fulfillment": str(home / "data"),
            "/var/lib/postgresql/patroni.pgpass": str(home / "pgpass"),
            # No test takes the power from a machine.
            "/var/run/postgresql": f"{home}\n    fsync: off",
            "10.0.0.0/24": "127.0.0.0/8",
            "db1:2379,db2:2379,db3:2379": ",".join(f"{machine}:2379" for machine in self.etcd_machines),
        }
        text = self._addresses(self._listening(_others(shipped("patroni.yml", replaced), machine), machine))
        path = write(home / "patroni.yml", text, database_owner())
        self._run(machine, ["patroni", str(path)], {})

    def _run(self, machine: str, command: list[str], values: dict[str, str]) -> None:
        self.children.append(start(command, self.folder / machine, database_owner(), values))

    def _listening(self, text: str, machine: str) -> str:
        return re.sub(
            r"0\.0\.0\.0:(\d+)", lambda found: f"127.0.0.1:{self.ports[machine, int(found[1])]}", text
        )

    def _addresses(self, text: str) -> str:
        return re.sub(
            r"\b(db\d):(\d{4})\b", lambda found: f"127.0.0.1:{self.gates[found[1], int(found[2])]}", text
        )

    def primary(self) -> str | None:
        """The machine that says that it is the primary, and has the lease."""
        for machine in MACHINES:
            with contextlib.suppress(requests.RequestException):
                url = f"http://127.0.0.1:{self.ports[machine, REST]}/primary"
                if requests.get(url, timeout=1).status_code == 200:
                    return machine
        return None

    def is_whole(self) -> bool:
        """A primary, and two standbys that follow it on its timeline, one of them synchronously."""
        with contextlib.suppress(requests.RequestException, StopIteration):
            url = f"http://127.0.0.1:{self.ports[next(filter(None, [self.primary()])), REST]}/cluster"
            members = requests.get(url, timeout=2).json()["members"]
            states = {member["state"] for member in members}
            timelines = {member.get("timeline") for member in members}
            roles = sorted(member["role"] for member in members)
            return states <= {"running", "streaming"} and roles == ROLES and len(timelines) == 1
        return False

    def rows(
        self, statement: str, values: Any = (), *, database: str = "fulfillment"
    ) -> list[tuple[Any, ...]]:
        """On the primary, past all proxies."""
        machine = wait_for(self.primary)
        address = f"host=127.0.0.1 port={self.ports[machine, POSTGRES]} user=postgres password={SUPERUSER}"
        with psycopg.connect(
            f"{address} dbname={database}", autocommit=True, connect_timeout=5
        ) as connection:
            cursor = connection.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    def make_database(self) -> None:
        self.rows(f"CREATE ROLE fulfillment LOGIN PASSWORD '{PASSWORD}'", database="postgres")
        self.rows("CREATE DATABASE fulfillment OWNER fulfillment", database="postgres")

    def switch_over(self) -> None:
        primary = wait_for(self.primary)
        command = [
            "/usr/bin/patronictl",
            "-c",
            str(self.folder / primary / "patroni.yml"),
            "switchover",
            "--force",
        ]
        result = subprocess.run(
            command, capture_output=True, text=True, env={"LC_ALL": "C.UTF-8"}, timeout=60
        )
        assert "Successfully switched over" in result.stdout, result.stdout + result.stderr

    def send(self, number: signal.Signals, machine: str, only: str = "") -> None:
        """To all processes of the machine, or to those with such a name."""
        for pid, where in processes_below(self.folder):
            with contextlib.suppress(OSError):
                if where == machine and only in Path(f"/proc/{pid}/comm").read_text():
                    os.kill(pid, number)

    def kill(self, machine: str) -> None:
        while any(where == machine for _, where in processes_below(self.folder)):
            self.send(signal.SIGKILL, machine)
            time.sleep(0.05)

    def crash_postgres(self, machine: str) -> None:
        """Its first process alone; the others end when they notice."""
        os.kill(
            int((self.folder / machine / "data" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL
        )

    def end(self) -> None:
        for machine in MACHINES:
            self.send(signal.SIGCONT, machine)
            self.kill(machine)
        for child in self.children:
            child.wait(PATIENCE)


def _others(text: str, machine: str) -> str:
    """What the first lines of the shipped file say to change on db2 and db3."""
    for mine in (
        "ETCD_NAME=",
        "ADVERTISE_PEER_URLS=http://",
        "ADVERTISE_CLIENT_URLS=http://",
        "name: ",
        "connect_address: ",
    ):
        text = text.replace(f"{mine}db1", f"{mine}{machine}")
    return text


@contextlib.contextmanager
def cluster(*, etcd_members: int = 3) -> Iterator[Cluster]:
    with tempfile.TemporaryDirectory(prefix="ha-", dir="/tmp") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        folder.chmod(0o755)
        machines = make_folder(folder / "machines", None)
        made = Cluster(machines, Network(machines), MACHINES[:etcd_members])
        for machine in MACHINES:
            make_folder(machines / machine, database_owner())
            for usual in (POSTGRES, REST, ETCD, PEERS):
                port = made.ports[machine, usual] = free_port()
                made.gates[machine, usual] = stack.enter_context(made.network.gate(machine, port))
        try:
            for machine in MACHINES:
                made.start(machine)
            wait_for(made.is_whole)
            made.make_database()
            yield made
        finally:
            made.network.cut_off.clear()
            made.end()
