"""The production board beside 100,000 jobs: `python -m tests.benchmarks.board`.

Opens every stage, search and filter as an operator and as staff of one store, and prints milliseconds and queries.
`--explain` shows the slowest statement of each page over the mark. The database is kept in var/ for the next run.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.benchmarks import soak_scene

JOBS, MAX_MILLISECONDS, MAX_QUERIES, ROUNDS = 100_000, 150, 12, 5
FOLDER = Path(os.environ.get("BOARD_POSTGRES") or soak_scene.ROOT / "var" / "board-postgres")
BOARD = "/admin/production/job/"
# Shares of a hundred.
STATES = {
    "Queued": 20,
    "Sent": 15,
    "Acknowledged": 10,
    "InProduction": 20,
    "Failed": 1,
    "Shipped": 30,
    "Cancelled": 4,
}
FILL = """
INSERT INTO production_job (number, generation, order_id, item_id, store_id, provider_id, state, held, message,
    reference, due, tries, next_try, is_uncertain, refused_by, created, sent, updated)
SELECT o.number || '-' || (i.position + 1), 1, o.id, i.id, o.store_id, p.id, s.state,
    CASE WHEN s.state = 'Queued' AND i.id %% 4 = 0 THEN 'Manual' ELSE '' END, '', '',
    current_date + ((i.id * 7919) %% 40 - 10)::int, 1, NULL, false, '{}', o.created, NULL, o.created
FROM (SELECT *, row_number() OVER (ORDER BY id) AS place FROM stores_orderitem) i
JOIN stores_order o ON o.id = i.order_id
JOIN LATERAL (SELECT (%s::text[])[1 + (i.place * 61) %% 100] AS state) s ON true
LEFT JOIN production_provider p ON p.code = CASE WHEN i.id %% 3 = 0 THEN 'second' ELSE 'first' END
    AND NOT (s.state = 'Queued' AND i.id %% 2 = 0)
WHERE NOT EXISTS (SELECT FROM production_job j WHERE j.item_id = i.id) LIMIT %s
"""


def main() -> int:
    arguments = _arguments()
    soak_scene.FOLDER = FOLDER
    soak_scene.prepare()
    people = _filled(arguments.jobs)
    over = 0
    for name, user in people.items():
        for path in _paths(name):
            over += _measure(name, user, path, arguments)
    print(f"{over} over a mark ({MAX_MILLISECONDS} ms, {MAX_QUERIES} queries), load {os.getloadavg()[0]:.1f}")
    return int(bool(over))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=JOBS)
    parser.add_argument("--explain", action="store_true", help="show the slowest statement of slow pages")
    return parser.parse_args()


def _paths(person: str) -> Sequence[str]:
    from production.dispatch.selectors.board import STAGES
    from production.jobs.models import Job

    job = Job.objects.select_related("order").order_by("-id")[500]
    stages = [f"?stage={stage.key}" for stage in STAGES]
    more = [f"?q={job.number}", f"?q={job.order.number}", "?q=nothing-of-this", "?p=100", "?stage=all&p=100"]
    stages += [f"?stage={key}&provider=second" for key in ("work", "late", "all")]
    if person == "operator":
        more += [f"?stage={key}&store=bench-03" for key in ("late", "all")] + ["/admin/"]
    return ["", *stages, *more]


def _measure(name: str, user: Any, path: str, arguments: argparse.Namespace) -> bool:
    from django.test import Client

    address = path if path.startswith("/") else BOARD + path
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(user)
    client.get(address)
    times: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        with _statements() as statements:
            began, processor = time.perf_counter(), time.process_time()
            answer = client.get(address)
            times.append((1000 * (time.perf_counter() - began), 1000 * (time.process_time() - processor)))
    took = statistics.median(one for one, _ in times)
    ours = statistics.median(one for _, one in times)
    slowest = max(statements, default=(0.0, "", None))
    is_over = took > MAX_MILLISECONDS or len(statements) > MAX_QUERIES
    print(
        f"{took:7.0f} ms, processor of Python {ours:4.0f} ms, slowest statement {1000 * slowest[0]:6.1f} ms, "
        f"{len(statements):2} queries, {answer.status_code}  {name} {address}{' **over**' if is_over else ''}",
        flush=True,
    )
    if is_over and arguments.explain:
        _explain(slowest)
    return is_over


@contextmanager
def _statements() -> Iterator[list[tuple[float, str, Any]]]:
    from django.db import connection

    found: list[tuple[float, str, Any]] = []

    def noted(execute: Any, sql: str, parameters: Any, many: bool, context: Any) -> Any:
        began = time.perf_counter()
        try:
            return execute(sql, parameters, many, context)
        finally:
            found.append((time.perf_counter() - began, sql, parameters))

    with connection.execute_wrapper(noted):
        yield found


def _explain(statement: tuple[float, str, Any]) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS) {statement[1]}", statement[2])
        print(statement[1][:2000], *(f"    {line}" for (line,) in cursor.fetchall()), sep="\n", flush=True)


def _filled(jobs: int) -> dict[str, Any]:
    from django.db import connection

    from accounts.models import Role, Tenant, User
    from accounts.permissions import Grant
    from accounts.services.users import create_user
    from production.jobs.models import Job
    from stores.catalog.models import Store
    from tests.benchmarks import order_data

    order_data.prepare()
    if order_data.count() < jobs:
        order_data.fill(to=jobs, large=jobs // 5)
    _make_providers()
    if Job.objects.count() < jobs:
        states = [state for state, share in STATES.items() for _ in range(share)]
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = 0")
            cursor.execute(FILL, [states, jobs - Job.objects.count()])
            cursor.execute("VACUUM ANALYZE")
    print(f"{Job.objects.count():,} jobs", flush=True)
    people = {}
    for name in ("operator", "staff"):
        people[name] = User.objects.filter(username=name).first() or create_user(
            tenant=Tenant.objects.get(domain="bench.example"),
            username=name,
            first_name=name.title(),
            last_name="Example",
            email=f"{name}@bench.example",
            password="a long pass phrase",
            is_operator=name == "operator",
        )
    store = Store.objects.get(external_id="bench-03")
    for grant in (Grant.ORDER_ALL_READ, Grant.ORDER_ALL_WRITE):
        Role.objects.get_or_create(user=people["staff"], store=store, grant=grant)
    return people


def _make_providers() -> None:
    import tempfile

    from django.conf import settings

    from production.providers.models import Provider
    from tests.factories.production import make_provider

    root = Path(tempfile.gettempdir()) / "board-folders"
    settings.PRODUCTION_FOLDERS = [root]
    for code in ("first", "second"):
        if not Provider.objects.filter(code=code).exists():
            make_provider(root, code)


if __name__ == "__main__":
    sys.exit(main())
