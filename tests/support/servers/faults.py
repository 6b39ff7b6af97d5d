"""Each fault of a disk, a network, the clock or a limit, on one running service: what is said and what is left."""

import contextlib
import logging
import re
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from tests.support.cluster.load import KEPT
from tests.support.patience import wait_for
from tests.support.servers.buckets import serving_buckets
from tests.support.servers.fault_scene import CHECKED, CONNECTIONS, Gate, Scene, scene
from tests.support.servers.serving import serving

# What the alerts look at.
WATCHED = re.compile(
    r"^fulfillment_(check_ok|database_up|database_refusals_total|workers_alive|queue_retried|queue_failed|"
    r"queue_oldest_seconds|deliveries_oldest_seconds)\b"
)


@dataclass
class Outcome:
    """`sign` is what /readyz says; `back` how long after its end everything was well again."""

    fault: str
    sign: str = ""
    reads: str = ""
    orders: str = ""
    uploads: str = ""
    back: float = 0.0
    metrics: dict[str, float] = field(default_factory=dict)
    before: dict[str, float] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)


ANY, REFUSED, DONE = frozenset({"201", "503"}), frozenset({"503"}), frozenset({"201"})
# As the service says, or no answer.
AWAY = frozenset({"200", "201", "503", "ConnectionError", "ReadTimeout"})


@dataclass
class Fault:
    """`part` is what /readyz names, if it can; the others are the answers that are allowed."""

    act: Callable[[Scene], AbstractContextManager[None]]
    part: str = ""
    orders: frozenset[str] = DONE
    uploads: frozenset[str] = DONE
    reads: frozenset[str] = frozenset({"200"})
    times: int = 4


@contextlib.contextmanager
def full(made: Scene, disk: str) -> Iterator[None]:
    made.fill(disk)
    try:
        yield
    finally:
        made.make_room(disk)


@contextlib.contextmanager
def full_database(made: Scene) -> Iterator[None]:
    made.database.rows("CHECKPOINT")
    with full(made, "database"):
        # What is free within the tables is used first.
        wait_for(lambda: made.order() == "503", 60, every=0)
        yield


@contextlib.contextmanager
def no_connections(made: Scene) -> Iterator[None]:
    """Those of the service end, and others take their places."""
    held: list[Any] = []
    try:
        made.database.end_every_connection()
        for _ in range(3 * CONNECTIONS):
            with contextlib.suppress(psycopg.OperationalError):
                held.append(psycopg.connect(made.database.url))
        yield
    finally:
        for connection in held:
            connection.close()


@contextlib.contextmanager
def no_names(made: Scene) -> Iterator[None]:
    made.find_names(False)
    try:
        yield
    finally:
        made.find_names(True)


@contextlib.contextmanager
def no_files(made: Scene) -> Iterator[None]:
    """Neither web processes nor worker may open one more; what they close meanwhile is taken as well."""

    def are_used_up() -> bool:
        for name in ("web", "worker"):
            made.limit(name, resource.RLIMIT_NOFILE, lambda pid: len(list(Path(f"/proc/{pid}/fd").iterdir())))
        return made.ready().get("process") != "ok"

    try:
        wait_for(are_used_up)
        yield
    finally:
        for name in ("web", "worker"):
            made.limit(name, resource.RLIMIT_NOFILE, None)


@contextlib.contextmanager
def no_memory(made: Scene) -> Iterator[None]:
    for name in ("web", "worker"):
        made.limit(name, resource.RLIMIT_AS, _address_space)
    try:
        yield
    finally:
        for name in ("web", "worker"):
            made.limit(name, resource.RLIMIT_AS, None)


def _address_space(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * resource.getpagesize()


def clock(offset: str) -> Callable[[Scene], AbstractContextManager[None]]:
    @contextlib.contextmanager
    def jump(made: Scene) -> Iterator[None]:
        (made.folder / "clock").write_text(f"{offset}\n")
        try:
            yield
        finally:
            (made.folder / "clock").write_text("+0\n")

    return jump


@contextlib.contextmanager
def no_mail(made: Scene) -> Iterator[None]:
    """A mail is due meanwhile, and fails twice before it is over."""
    with made.without_mail():
        made.forget_password()
        wait_for(lambda: watched(made.metrics()).get(RETRIED, 0) > 0, 40, every=0.5)
        yield
    # The third try comes 125 seconds after the second.
    wait_for(lambda: made.mails.taken, every=0.5)


RETRIED = 'fulfillment_queue_retried{queue="default"}'
FOLDER_FAULTS = {
    "no file can be opened": Fault(no_files, "process", AWAY, AWAY, AWAY),
    "the memory of a process is used up": Fault(no_memory, "process", AWAY, AWAY, AWAY),
    "the disk of the database is full": Fault(full_database, "room", REFUSED, ANY),
    "the disk of the files is full": Fault(lambda made: full(made, "media"), "storage", ANY, REFUSED),
    "the disk of the log is full": Fault(lambda made: full(made, "log")),
    "the disk of temporary files is full": Fault(lambda made: full(made, "temp"), "temporary", ANY, ANY),
    "names are not found": Fault(no_names, "names"),
    "PostgreSQL is at max_connections": Fault(
        # Each read waits for a connection before it is refused.
        no_connections,
        "database",
        ANY,
        ANY,
        frozenset({"200", "503"}),
        times=1,
    ),
    "the mail server is unreachable": Fault(no_mail),
}


def mode(gate: Gate, value: str) -> Callable[[Scene], AbstractContextManager[None]]:
    @contextlib.contextmanager
    def act(made: Scene) -> Iterator[None]:
        gate.mode = value
        try:
            yield
        finally:
            gate.mode = "open"

    return act


BUCKET_MODES = {"is slow": "slow", "refuses requests": "refusing", "is unreachable": "away"}


def bucket_faults(gate: Gate) -> dict[str, Fault]:
    faults = {
        f"the bucket {name}": Fault(mode(gate, value), "storage", ANY, ANY, times=1)
        for name, value in BUCKET_MODES.items()
    }
    # A token that has ended is renewed, by any client.
    renewed = frozenset({"200", "201", "401"})
    clocks = {"ahead": "+2h", "behind": "-2h"}
    return faults | {
        f"the clock is two hours {name}": Fault(clock(offset), "clock", renewed, renewed, renewed)
        for name, offset in clocks.items()
    }


def watched(text: str) -> dict[str, float]:
    pairs = (line.rsplit(" ", 1) for line in text.splitlines() if WATCHED.match(line))
    return {name: float(value) for name, value in pairs}


def outcome_of(made: Scene, name: str, fault: Fault) -> Outcome:
    """Causes the fault, asks everything meanwhile, and waits until all is well again without a hand."""
    outcome, wrong = Outcome(name, before=watched(made.metrics())), len(made.wrong)
    with fault.act(made):
        if fault.part:
            with contextlib.suppress(AssertionError):
                wait_for(lambda: made.ready().get(fault.part, "ok") != "ok", 25, every=0.3)
        # Requests that fail give handles and memory back, so what is said is asked for before them.
        # Without a file for the next connection the web process spins, until it ends this one after half a minute.
        checks, flags = made.ready(), watched(made.metrics(is_kept=False))
        outcome.reads = "/".join(sorted({made.read() for _ in range(fault.times)}))
        outcome.orders = "/".join(sorted({made.order() for _ in range(fault.times)}))
        outcome.uploads = made.upload()
        checks = checks or made.ready()
        outcome.sign = "; ".join(text for text in checks.values() if text != "ok") if checks else "no answer"
        counts = watched(made.metrics())
        outcome.metrics = {name: value for name, value in counts.items() if "_total" in name}
        outcome.metrics |= {name: value for name, value in flags.items() if "_total" not in name}
    ended = time.monotonic()
    wait_for(lambda: made.is_well() and made.order() == "201" and made.upload() == "201", every=0.2)
    outcome.back = time.monotonic() - ended
    outcome.failures += made.wrong[wrong:]
    for kind in ("reads", "orders", "uploads"):
        answers: str = getattr(outcome, kind)
        if not set(answers.split("/")) <= getattr(fault, kind):
            outcome.failures.append(f"{kind} were answered {answers}")
    if fault.part and checks.get(fault.part, "ok") == "ok":
        outcome.failures.append(f"/readyz says {outcome.sign or 'nothing'}")
    return outcome


def line_of(outcome: Outcome) -> str:
    figures = (outcome.reads, outcome.orders, outcome.uploads, f"{outcome.back:.1f} s")
    return f"| {' | '.join(map(str, (outcome.fault, outcome.sign or '-', *figures)))} |"


def failures_at_the_end(made: Scene) -> list[str]:
    """Each key is one order, whatever its first answer was; nothing is in halves, every event arrives."""
    refused = [key for key in made.refused if key not in made.orders]
    failures = [f"key {key} was answered {status}" for key in refused if (status := made.order(key)) != "201"]
    kept = dict(made.database.rows(KEPT))
    failures += [f"order {key} is lost" for key, number in made.orders.items() if kept.get(key) != number]
    failures += [f"order {key} was never sent" for key in kept.keys() - made.orders.keys()]
    failures += [
        f"{name}: {row}"
        for name, query in CHECKED.items()
        for row in set(made.database.rows(query)) - made.before[name]
    ]
    try:
        wait_for(lambda: not _undelivered(made), 150, every=0.5)
    except AssertionError:
        failures.append(f"{len(_undelivered(made))} events were not delivered")
    return failures


def _undelivered(made: Scene) -> set[str]:
    """Those that wait for no later try: the third one comes after five minutes."""
    due = made.database.rows(
        "SELECT e.event_id FROM applications_event e JOIN applications_delivery d ON d.event_id = e.id "
        "WHERE d.next_try IS NULL OR d.next_try <= now()"
    )
    return {str(event_id) for (event_id,) in due} - {
        delivery.event["EventID"] for delivery in list(made.receiver.received)
    }


def run(
    names: Sequence[str] = (), *, report: Callable[[Outcome], None] = lambda one: None
) -> tuple[list[Outcome], list[str]]:
    """Those of folder and limits first; then the service is started again with a bucket and a clock of its own."""
    gate = Gate()
    parts = [
        {name: fault for name, fault in part.items() if not names or name in names}
        for part in (FOLDER_FAULTS, bucket_faults(gate))
    ]
    outcomes: list[Outcome] = []
    with scene() as made:
        made.start()
        made.before = {name: set(made.database.rows(query)) for name, query in CHECKED.items()}
        made.make_webhook()
        for number, part in enumerate(parts):
            with contextlib.ExitStack() as stack:
                if number and part:
                    made.stop()
                    gate.target = stack.enter_context(_bucket())
                    gate.port = stack.enter_context(serving(gate.serve, backlog=100))
                    made.start(**made.with_bucket(gate.port), **made.with_clock())
                for name, fault in part.items():
                    outcomes.append(outcome_of(made, name, fault))
                    report(outcomes[-1])
                if part is parts[-1] or not parts[-1]:
                    left = failures_at_the_end(made)
                    made.stop()
                    break
    return outcomes, left


@contextlib.contextmanager
def _bucket() -> Iterator[int]:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with serving_buckets() as address:
        yield int(address.rpartition(":")[2])
