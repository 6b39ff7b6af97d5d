"""What fails in a database cluster and the service before it, and the limits for each."""

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg

from tests.support.cluster.load import Load
from tests.support.cluster.machines import POSTGRES, SUPERUSER, Cluster, cluster
from tests.support.cluster.service import service
from tests.support.patience import PATIENCE, wait_for
from tests.support.servers.webhook_receiver import receiving

FROZEN_SECONDS, CUT_SECONDS, LOST_SECONDS = 60, 40, 35
RESTART_SECONDS = 1
STRAY = "CREATE TABLE IF NOT EXISTS public.stray_write (machine text)"


@dataclass
class Outcome:
    fault: str
    refused: float
    limit: float
    lost: list[str]
    doubled: list[str]
    client_errors: list[str]
    wrong: list[str]
    refusals: str

    @property
    def failures(self) -> list[str]:
        late = [f"writes were refused for {self.refused:.1f} s"] if self.refused > self.limit else []
        return [*late, *self.lost, *self.doubled, *self.client_errors, *self.wrong]


@dataclass
class Scene:
    cluster: Cluster
    load: Load

    @property
    def primary(self) -> str:
        return str(wait_for(self.cluster.primary))

    def crash_postgres(self) -> None:
        self.cluster.crash_postgres(self.primary)

    def lose_machine(self) -> None:
        machine = self.primary
        self.cluster.kill(machine)
        time.sleep(LOST_SECONDS)
        self.cluster.start(machine)

    def kill_etcd(self) -> None:
        machine = self.primary
        self.cluster.send(signal.SIGKILL, machine, "etcd")
        time.sleep(RESTART_SECONDS)
        self.cluster.start_etcd(machine)

    def kill_pooler(self) -> None:
        machine = self.load.service.machines[0]
        machine.kill("pooler")
        time.sleep(RESTART_SECONDS)
        machine.start_pooler()

    def kill_web(self) -> None:
        machine = self.load.service.machines[0]
        machine.kill("web")
        time.sleep(RESTART_SECONDS)
        machine.start_web()
        wait_for(machine.is_ready)

    def freeze(self) -> None:
        machine = self.primary
        with self.stray_writer(machine) as write:
            self.cluster.send(signal.SIGSTOP, machine)
            time.sleep(FROZEN_SECONDS)
            self.cluster.send(signal.SIGCONT, machine)
            write()

    def switch_over(self) -> None:
        self.cluster.switch_over()

    def cut_network(self) -> None:
        """The machines of the service still reach the old primary."""
        machine = self.primary
        with self.stray_writer(machine) as write:
            self.cluster.network.cut_off.add(machine)
            write()
            time.sleep(CUT_SECONDS)
            self.cluster.network.cut_off.discard(machine)

    @contextlib.contextmanager
    def stray_writer(self, machine: str) -> Iterator[Callable[[], None]]:
        """A session at the primary of before, which writes there past everything that would lead elsewhere."""
        self.cluster.rows(STRAY)
        address = (
            f"host=127.0.0.1 port={self.cluster.ports[machine, POSTGRES]} user=postgres password={SUPERUSER}"
        )
        session = psycopg.connect(
            f"{address} dbname=fulfillment options='-c statement_timeout=15s'", autocommit=True
        )

        def write() -> None:
            try:
                session.execute("INSERT INTO public.stray_write VALUES (%s)", [machine])
            except psycopg.Error:
                return
            self.load.wrong.append(f"{machine} acknowledged a write that no other machine has")

        thread = threading.Thread(target=write)
        yield thread.start
        thread.join(PATIENCE)
        session.close()
        wait_for(self.cluster.is_whole)
        if self.cluster.rows("SELECT 1 FROM public.stray_write"):
            self.load.wrong.append(f"a write at {machine} alone is still there")


# Seconds in which writes may be refused.
FAULTS: dict[str, tuple[Callable[[Scene], None], float]] = {
    "PostgreSQL of the primary: kill -9": (Scene.crash_postgres, 10),
    "the primary's machine is lost": (Scene.lose_machine, 30),
    "a member of etcd: kill -9": (Scene.kill_etcd, 10),
    "a pooler: kill -9": (Scene.kill_pooler, 10),
    "a web node: kill -9": (Scene.kill_web, 10),
    f"the primary's machine is frozen for {FROZEN_SECONDS} s": (Scene.freeze, 30),
    "switchover by command": (Scene.switch_over, 3),
    f"the network between the primary and the others is cut for {CUT_SECONDS} s": (Scene.cut_network, 30),
}


@contextlib.contextmanager
def scene(folder: Path, library: Path, *, etcd_members: int = 3, machines: int = 2) -> Iterator[Scene]:
    """`machines` are those of the service."""
    # For the user that runs the database.
    folder.chmod(0o755)
    with (
        cluster(etcd_members=etcd_members) as made,
        service(made, folder, machines=machines) as served,
        receiving() as receiver,
    ):
        load = Load(served, made, receiver, library)
        load.start()
        try:
            yield Scene(made, load)
        finally:
            load.stop()


def outcome_of(scene: Scene, fault: str) -> Outcome:
    """Causes the fault and waits until everything is as before."""
    act, limit = FAULTS[fault]
    load, began = scene.load, time.monotonic()
    errors, wrong, refusals = len(load.client_errors), len(load.wrong), load.refusals.copy()
    act(scene)
    wait_for(scene.cluster.is_whole)
    # Beyond the longest wait of a client between two tries.
    count, end = len(load.acknowledged), time.monotonic()
    wait_for(lambda: len(load.acknowledged) > count + 20 and time.monotonic() > end + 8)
    # Just after a crash nothing has noticed it.
    wait_for(scene.cluster.is_whole)
    return Outcome(
        fault,
        load.longest_pause(began),
        limit,
        load.lost(),
        load.doubled(),
        load.client_errors[errors:],
        load.wrong[wrong:],
        ", ".join(f"{count} × {name}" for name, count in sorted((load.refusals - refusals).items())),
    )


def failures_at_the_end(scene: Scene) -> list[str]:
    """With the clients stopped: the workers have gone on, and every key is known."""
    load = scene.load
    load.stop()
    failures = []
    workers = [machine.running["worker"] for machine in load.service.machines]
    if any(worker.poll() is not None for worker in workers):
        failures.append("a worker has ended")
    try:
        wait_for(lambda: not load.undelivered(), 60)
    except AssertionError:
        failures.append(f"{len(load.undelivered())} events were not delivered")
    failures += [f"key {key} is not known any more" for key in load.forgotten_keys()]
    return [*failures, *load.lost(), *load.doubled()]


def table(outcomes: list[Outcome]) -> list[str]:
    lines = ["| fault | writes refused for | lost | doubled | errors of clients | refusals without retries |"]
    lines += ["|---|---|---|---|---|---|"]
    return lines + [
        f"| {outcome.fault} | {outcome.refused:.1f} s | {len(outcome.lost)} | {len(outcome.doubled)} "
        f"| {len(outcome.client_errors)} | {outcome.refusals or 'none'} |"
        for outcome in outcomes
    ]
