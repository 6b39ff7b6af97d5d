"""Waiting times at 70 % load while something else happens: `python -m tests.benchmarks.tails [--seconds 10]`.

Requests are sent when they are due, whether earlier ones were answered or not. The counts of calls and the request
log are written every 5 seconds in each row.
"""

import argparse
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from signal import SIGHUP, SIGKILL
from urllib.parse import urlsplit

import psycopg

from fulfillment.local import supervision
from tests.benchmarks.databases import ROOT, Database, prepare_database
from tests.benchmarks.load import put_load, require_wrk
from tests.benchmarks.open_loop import CONNECTIONS, Outcome, put_steady_load
from tests.benchmarks.processes import descendants, processor_seconds
from tests.benchmarks.quiet import wait_for_quiet
from tests.benchmarks.servers import Server, running
from tests.benchmarks.steady import LOADED, PATH, WARM_UP_SECONDS

TAIL_MARK, LONGEST = 4.0, 10.0
OLD_ROWS = 100_000
# As the unit of the documents has them.
OPTIONS = ("--respawn-failed-workers", "--respawn-interval", "1", "--workers-kill-timeout", "30")
OLD_CALLS = """
INSERT INTO applications_loggedrequest (
    application_id, time, method, path, status, code, pointer, microseconds, request_id, headers
)
SELECT %s::uuid, now() - interval '100 days', 'GET', '/api/v1/store', 200, '', '', 1000, gen_random_uuid(), '{}'
FROM generate_series(1, %s)
"""

Disturbance = Callable[[Database, Server], None]


def nothing(database: Database, server: Server) -> None:
    pass


def prune(database: Database, server: Server) -> None:
    """Takes old rows out while the requests of the load add new ones."""
    command = [sys.executable, "manage.py", "prune", "--only", "logged requests"]
    environment = os.environ | database.environment
    subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)


def checkpoint(database: Database, server: Server) -> None:
    with psycopg.connect(database.environment["DATABASE_URL"], autocommit=True) as connection:
        connection.execute("CHECKPOINT")


def vacuum(database: Database, server: Server) -> None:
    with psycopg.connect(database.environment["DATABASE_URL"], autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE accounts_ratewindow")
        connection.execute("VACUUM ANALYZE applications_loggedrequest")


def respawn(database: Database, server: Server) -> None:
    os.kill(max(descendants(server.pid), key=processor_seconds), SIGKILL)


def reload(database: Database, server: Server) -> None:
    os.kill(server.pid, SIGHUP)


# With how many workers, and whether the mark is for it: a worker that loads takes a processor for seconds.
ROWS: dict[str, tuple[int, bool, Disturbance]] = {
    "nothing else": (1, True, nothing),
    f"prune of {OLD_ROWS:,} logged requests": (1, True, prune),
    "checkpoint of PostgreSQL": (1, True, checkpoint),
    "vacuum of the busiest tables": (1, True, vacuum),
    "a worker of two is killed": (2, False, respawn),
    "reload of two workers": (2, False, reload),
}


def measure(
    database: Database,
    seconds: float,
    *,
    rate: float = 0,
    rows: Mapping[str, tuple[int, bool, Disturbance]] = ROWS,
) -> list[str]:
    """Lines of a table; those that missed their mark end in `(under)`. Without a rate it is 70 % of what one worker
    does."""
    lines = ["| beside | requests/s | p50 ms | p99 ms | failed | sent again |", "|---|---|---|---|---|---|"]
    for name, (workers, is_marked, disturb) in rows.items():
        with running("ours", workers=workers, options=OPTIONS, environment=database.environment) as server:
            most = put_load(server.url + PATH, database.headers, seconds=2, connections=8).rate
            rate = rate or LOADED * most
            outcome = _loaded(database, server, rate, seconds, disturb)
        missed = bool(outcome.refused + outcome.broken) or (is_marked and _is_late(outcome))
        lines.append(
            f"| {name} | {rate:.0f} | {outcome.percentile(0.5):.1f} | {outcome.percentile(0.99):.1f} "
            f"| {outcome.refused + outcome.broken} | {outcome.repeated} |{' (under)' if missed else ''}"
        )
        print(lines[-1], flush=True)
    return lines


def _loaded(database: Database, server: Server, rate: float, seconds: float, disturb: Disturbance) -> Outcome:
    if disturb is prune:
        with psycopg.connect(database.environment["DATABASE_URL"], autocommit=True) as connection:
            connection.execute(OLD_CALLS, [database.facts["application"], OLD_ROWS])
    parts = urlsplit(server.url)
    # One address many times: a connection that ends with its worker is opened again at the same place.
    targets = [(parts.hostname or "", parts.port or 80)] * (4 * CONNECTIONS)
    put_steady_load(server.url + PATH, database.headers, rate=rate, seconds=WARM_UP_SECONDS, targets=targets)
    helper = threading.Timer(seconds / 4, disturb, (database, server))
    helper.start()
    outcome = put_steady_load(
        server.url + PATH, database.headers, rate=rate, seconds=seconds, targets=targets
    )
    helper.join()
    return outcome


def _is_late(outcome: Outcome) -> bool:
    return outcome.percentile(0.99) > min(LONGEST, TAIL_MARK * outcome.percentile(0.5))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each row")
    parser.add_argument(
        "--rate", type=float, default=0, help="requests a second; else 70 %% of what one worker does"
    )
    chosen = parser.parse_args()
    require_wrk()
    supervision.raise_on_stop_signal()
    database = prepare_database(1)
    quiet = wait_for_quiet()
    before = os.getloadavg()[0]
    measure(database, chosen.seconds, rate=chosen.rate)
    print(f"Load average {before:.1f} before{'' if quiet else ' (busy)'} and {os.getloadavg()[0]:.1f} after.")


if __name__ == "__main__":
    main()
