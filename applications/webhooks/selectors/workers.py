"""The health of workers, for readiness and metrics."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from fulfillment.core.db.prepared import fetch_row

# Workers write a heartbeat every 10 seconds (`manage.py worker`).
ALIVE = timedelta(seconds=30)
HEARTBEATS = """
SELECT (SELECT count(*) FROM procrastinate_workers WHERE last_heartbeat > now() - %s::interval),
       (SELECT max(last_heartbeat) FROM procrastinate_workers),
       (SELECT count(*) FROM procrastinate_jobs
        WHERE status = 'todo' AND (scheduled_at IS NULL OR scheduled_at <= now()))
"""


@dataclass(frozen=True, slots=True)
class WorkerHealth:
    """`alive` workers, when one was last heard of, and how many jobs wait for one."""

    alive: int
    last_heartbeat: datetime | None
    waiting_jobs: int


def worker_health() -> WorkerHealth:
    row = fetch_row(HEARTBEATS, [ALIVE])
    return WorkerHealth(*row) if row else WorkerHealth(0, None, 0)
