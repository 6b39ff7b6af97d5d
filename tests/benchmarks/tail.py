"""Waiting times at 70% of what one worker can do, on the service and on the limit."""

from tests.benchmarks.databases import Database
from tests.benchmarks.load import put_load
from tests.benchmarks.open_loop import Outcome, put_steady_load
from tests.benchmarks.ratios import limit_environment
from tests.benchmarks.servers import running

PATH = "/api/v1/store/bench"
TAIL_MARK, LOADED, WARM_UP_SECONDS = 10, 0.7, 5


def measure_tail(database: Database, seconds: float) -> tuple[float, Outcome, Outcome]:
    """Waiting times at 70% of what one worker can do: (that rate, the outcome, that of the limit at this rate).

    The second is what the machine itself makes requests wait.
    """
    headers, environment = database.headers, limit_environment(database)
    with running("ours", environment=environment) as ours, running("limit", environment=environment) as limit:
        rate = LOADED * put_load(ours.url + PATH, headers, seconds=3, connections=8).rate
        # Afterwards every thread has its connection to the database, and that its prepared statements.
        for server in (ours, limit):
            put_steady_load(server.url + PATH, headers, rate=rate, seconds=WARM_UP_SECONDS)
        outcome, least = (
            put_steady_load(server.url + PATH, headers, rate=rate, seconds=seconds)
            for server in (ours, limit)
        )
        return rate, outcome, least
