"""Two web nodes and two worker nodes, PgBouncer, PostgreSQL and a replica: `python -m tests.benchmarks.two_nodes`.

Each node is a network namespace with an address of its own (root, Linux); they reach the databases by TCP and share
nothing else but the folder of files. Web nodes go through PgBouncer (PGBOUNCER names the program), workers past it.
Writes what it saw between the marks of docs/performance.md and docs/scaling.md.
"""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import orjson
import psycopg
import requests

from fulfillment.local import supervision
from fulfillment.local.postgres_layout import Host, find_host
from tests.benchmarks.databases import ROOT, Database, fill_database
from tests.benchmarks.documents import write_between
from tests.benchmarks.load import require_wrk
from tests.benchmarks.networks import GATEWAY, NETWORK, namespaces
from tests.benchmarks.node_load import Measured, arithmetic, lose_replica, measure_reads, table
from tests.benchmarks.open_loop import put_steady_load
from tests.benchmarks.pgbouncer import ROLE, Pooler, pooling
from tests.benchmarks.rows import ORDER
from tests.benchmarks.servers import Server, running
from tests.support.streaming_replica import StreamingReplica, streaming_replica
from tests.support.webhook_receiver import Receiver, receiving

FOLDER = ROOT / "var" / "nodes-postgres"
DOCUMENT, SCALING = ROOT / "docs" / "performance.md", ROOT / "docs" / "scaling.md"
REPLICA_PORT, OWN_ORDERS = 5433, 20
NO_POOLER = "nothing; PgBouncer 1.21 or newer was not installed"
QUOTA, SENT, TWINS = 200, 300, 24
RATE, SECONDS, KILLED_AFTER = 200, 12, 5


@dataclass
class Run:
    """Two nodes that serve, and what was seen; every check that does not hold ends the run."""

    a: Server
    b: Server
    database: Database
    replica: StreamingReplica
    workers: list[subprocess.Popen[bytes]]
    lines: list[str] = field(default_factory=list)

    def saw(self, holds: bool, text: str) -> None:
        if not holds:
            raise SystemExit(f"Not so: {text}")
        self.lines.append(f"- {text}")
        print(text, flush=True)

    def ask(
        self, node: Server, method: str, path: str, body: Any = None, **headers: str
    ) -> requests.Response:
        known = {"Content-Type": "application/json"} if body is not None else {}
        content = orjson.dumps(body) if body is not None else None
        return requests.request(
            method,
            f"{node.url}/api/v1{path}",
            data=content,
            headers={**self.database.headers, **known, **headers},
            timeout=30,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action=argparse.BooleanOptionalAction, default=True)
    arguments = parser.parse_args()
    if os.geteuid():
        sys.exit("This makes network namespaces, which takes root.")
    require_wrk()
    supervision.raise_on_stop_signal()
    with namespaces(["a", "b", "w", "v"]) as nodes, contextlib.ExitStack() as stack:
        url, host = _listening_postgresql()
        hosts = ",".join(address for _, address in nodes.values())
        database = fill_database(
            url, 0, ALLOWED_HOSTS=hosts, WEBHOOK_ALLOWED_NETWORKS=f"{NETWORK}.0/24", REQUESTS_PER_MINUTE="600"
        )
        for statement in ROLE:
            _execute(url, statement)
        replica = stack.enter_context(streaming_replica(FOLDER, "nodes", listens=GATEWAY, port=REPLICA_PORT))
        pooler = stack.enter_context(pooling(GATEWAY, host))
        web = database.environment | {"DATABASE_REPLICA_URL": replica.url}
        if pooler:
            web["DATABASE_URL"] = pooler.url("nodes")
        a, b = (
            stack.enter_context(
                running("ours", host=nodes[name][1], prefix=nodes[name][0], environment=web, threads=4)
            )
            for name in "ab"
        )
        workers = [stack.enter_context(_worker(nodes[name][0], database.environment)) for name in "wv"]
        receiver = stack.enter_context(receiving(host=GATEWAY))
        run = Run(a, b, database, replica, workers)
        pooled = f"PgBouncer {pooler.version} in transaction mode" if pooler else NO_POOLER
        run.lines.append(f"- Between the web nodes and the primary: {pooled}.")
        tables = _observe(run, receiver, _pids(run, host, pooler))
    if arguments.write:
        load = f"Load average after the run: {os.getloadavg()[0]:.1f}."
        write_between(DOCUMENT, "two nodes", "\n".join([*run.lines, "", *tables[:-1], "", load, ""]))
        write_between(SCALING, "replica arithmetic", tables[-1])


def _pids(run: Run, host: Host, pooler: Pooler | None) -> dict[str, list[int]]:
    primary = int((host.data / "postmaster.pid").read_text().split("\n", 1)[0])
    pids = {"web": [run.a.pid, run.b.pid], "primary": [primary], "replica": [run.replica.pid]}
    return pids | ({"pooler": [pooler.pid]} if pooler else {})


def _observe(run: Run, receiver: Receiver, pids: dict[str, list[int]]) -> list[str]:
    """The tables: with the replica, without it, and what it takes off the primary."""
    nodes = (run.a, run.b)
    _token_travels(run)
    _order_travels(run, receiver)
    _key_holds(run)
    _limit_holds(run)
    _export_has_own_order(run)
    served = measure_reads(nodes, run.database, pids)
    run.saw(not any(each.failures for each in served.values()), "No read of the first table failed.")
    run.saw(*lose_replica(nodes, run.database, run.replica))
    run.replica.kill()
    plain = measure_reads(nodes, run.database, {part: pids[part] for part in pids if part != "replica"})
    run.saw(not any(each.failures for each in plain.values()), "No read of the second table failed.")
    _worker_dies(run, receiver)
    _node_dies(run)
    return [
        "With the replica:",
        table(served),
        "",
        "Without it:",
        table(plain),
        "".join(_saved(served, plain)),
    ]


def _saved(served: Mapping[str, Measured], plain: Mapping[str, Measured]) -> Iterator[str]:
    yield "\n| read | primary ms without | with | replica ms | off the primary |\n|---|---|---|---|---|\n"
    for line in arithmetic(served, plain):
        yield f"{line}\n"
    yield "\n"


def _token_travels(run: Run) -> None:
    client = run.database.facts["client"]
    form = {"grant_type": "client_credentials", "client_id": client["id"], "client_secret": client["secret"]}
    token = requests.post(f"{run.a.url}/oauth/token", data=form, timeout=30).json()["access_token"]
    answer = run.ask(run.b, "GET", "/store/bench", Authorization=f"Bearer {token}")
    run.saw(answer.status_code == 200, "A token issued by node A opens node B at once.")
    requests.post(
        f"{run.b.url}/oauth/revoke",
        data={"token": token, "client_id": client["id"], "client_secret": client["secret"]},
        timeout=30,
    ).raise_for_status()
    answer = run.ask(run.a, "GET", "/store/bench", Authorization=f"Bearer {token}")
    run.saw(answer.status_code == 401, "Revoked on node B, it is refused by node A with the next request.")


def _order_travels(run: Run, receiver: Receiver) -> None:
    path = f"/application/{run.database.facts['application']}/webhook"
    made = run.ask(run.b, "POST", path, {"URL": receiver.url(), "EventTypes": ["order.received"]})
    made.raise_for_status()
    started = time.monotonic()
    order = run.ask(run.a, "POST", "/store/workshop/order", ORDER).json()
    seen = run.ask(run.b, "GET", f"/store/workshop/order/{order['OrderID']}")
    run.saw(
        seen.json()["OrderID"] == order["OrderID"], "An order placed on node A is read on node B at once."
    )
    heard = receiver.wait_for(1)[0]
    passed = time.monotonic() - started
    run.saw(
        heard.event["Data"]["OrderID"] == order["OrderID"],
        f"The worker on the third node sent its event to a webhook made on node B, {passed:.1f} s after the order.",
    )
    run.ask(run.a, "DELETE", f"{path}/{made.json()['ID']}").raise_for_status()


def _export_has_own_order(run: Run) -> None:
    path, seen = "/store/workshop/order/exportview?take=1", []
    for number in range(OWN_ORDERS):
        node, other = (run.a, run.b) if number % 2 else (run.b, run.a)
        before = int(run.ask(other, "GET", path).headers["X-Total-Count"])
        run.ask(node, "POST", "/store/workshop/order", ORDER).raise_for_status()
        seen.append(int(run.ask(other, "GET", path).headers["X-Total-Count"]) - before)
    run.saw(
        seen == [1] * OWN_ORDERS,
        f"{OWN_ORDERS} orders placed on one node were each in the export view of the other with the next request.",
    )


def _worker_dies(run: Run, receiver: Receiver) -> None:
    path = f"/application/{run.database.facts['application']}/webhook"
    made = run.ask(run.b, "POST", path, {"URL": receiver.url(), "EventTypes": ["order.received"]})
    made.raise_for_status()
    os.killpg(run.workers[0].pid, signal.SIGKILL)
    before, started = len(receiver.received), time.monotonic()
    run.ask(run.a, "POST", "/store/workshop/order", ORDER).raise_for_status()
    receiver.wait_for(before + 1)
    passed = time.monotonic() - started
    run.saw(
        True,
        f"With one of two workers killed, the other sent the event of the next order {passed:.1f} s later.",
    )


def _key_holds(run: Run) -> None:
    key, before = str(uuid.uuid4()), _count(run, "stores_order")

    def place(number: int) -> requests.Response:
        node = (run.a, run.b)[number % 2]
        return run.ask(node, "POST", "/store/workshop/order", ORDER, **{"Idempotency-Key": key})

    answers = _at_once(place, TWINS)
    statuses = Counter(answer.status_code for answer in answers)
    made = _count(run, "stores_order") - before
    ids = {answer.json()["OrderID"] for answer in [*answers, place(0), place(1)] if answer.status_code == 201}
    run.saw(
        made == 1 and len(ids) == 1 and set(statuses) <= {201, 409},
        f"{TWINS} requests with one `Idempotency-Key`, sent to both nodes at once, made 1 order: {statuses[201]} had "
        f"that order as their answer, {statuses[409]} were answered that it is in progress.",
    )


def _limit_holds(run: Run) -> None:
    _wait_for_a_new_window(run)
    _execute(
        run.database.environment["DATABASE_URL"],
        "UPDATE accounts_subscription SET requests_per_minute = %s",
        QUOTA,
    )
    answers = _at_once(lambda number: run.ask((run.a, run.b)[number % 2], "GET", "/store/bench"), SENT)
    statuses = Counter(answer.status_code for answer in answers)
    _execute(
        run.database.environment["DATABASE_URL"],
        "UPDATE accounts_subscription SET requests_per_minute = %s",
        1_000_000,
    )
    run.saw(
        statuses == {200: QUOTA, 429: SENT - QUOTA},
        f"Of {SENT} requests sent to both nodes at once under a limit of {QUOTA} a minute, exactly {statuses[200]} "
        f"were served and {statuses[429]} were answered 429.",
    )


def _node_dies(run: Run) -> None:
    targets = [(run.a.host, run.a.port), (run.b.host, run.b.port)]
    killer = threading.Timer(KILLED_AFTER, os.killpg, (run.a.pid, signal.SIGKILL))
    killer.start()
    outcome = put_steady_load(
        f"{run.b.url}/api/v1/store/bench",
        run.database.headers,
        rate=RATE,
        seconds=SECONDS,
        targets=targets,
    )
    killer.join()
    pairs = list(zip(outcome.moments, outcome.times, strict=True))
    before = sorted(waited for moment, waited in pairs if moment < KILLED_AFTER)
    after = sorted(waited for moment, waited in pairs if moment > KILLED_AFTER + 1)
    total = RATE * SECONDS
    run.saw(
        len(outcome.times) == total,
        f"Node A was killed {KILLED_AFTER} s into {RATE} requests a second spread over both: all {total:,} were "
        f"served, {outcome.repeated} of them sent again to node B because A died of them; p99 was "
        f"{_p99(before):.0f} ms with both nodes and {_p99(after):.0f} ms with B alone.",
    )


def _at_once(act: Callable[[int], requests.Response], count: int) -> list[requests.Response]:
    with ThreadPoolExecutor(max_workers=12) as pool:
        return list(pool.map(act, range(count)))


def _p99(ordered: list[float]) -> float:
    return ordered[int(len(ordered) * 0.99)]


def _count(run: Run, table: str) -> int:
    with psycopg.connect(run.database.environment["DATABASE_URL"]) as connection:
        return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def _execute(url: str, statement: str, *values: object) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(statement, values)


def _wait_for_a_new_window(run: Run) -> None:
    """What was counted before is forgotten, as it would be after a minute."""
    _execute(run.database.environment["DATABASE_URL"], "DELETE FROM accounts_ratewindow")


@contextlib.contextmanager
def _worker(prefix: list[str], environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [*prefix, sys.executable, "manage.py", "worker"],
        cwd=ROOT,
        env=os.environ | environment,
        start_new_session=True,
        preexec_fn=supervision.end_with_parent,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _listening_postgresql() -> tuple[str, Host]:
    """The embedded server, for this run on the bridge's address as well, where only the nodes can reach it."""
    from fulfillment.local.postgres import ensure_running

    ensure_running(FOLDER, database="nodes")
    host = find_host(FOLDER.resolve())
    rules = host.data / "pg_hba.conf"
    line = f"host all all {NETWORK}.0/24 trust\n"
    if line not in rules.read_text():
        with rules.open("a") as file:
            file.write(line)
    where = ["-D", str(host.data), "-l", str(host.data / "nodes.log"), "-o", f"-c listen_addresses={GATEWAY}"]
    done = host.run("pg_ctl", "restart", *where, "-w", "-m", "fast")
    if done.returncode:
        raise SystemExit(done.stdout)
    return f"postgresql://fulfillment@{GATEWAY}:5432/nodes", host


if __name__ == "__main__":
    main()
