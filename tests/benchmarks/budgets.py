"""What budgets cost an order: `python -m tests.benchmarks.budgets`. Stores with and without budgets, in turn."""

import statistics
import sys
import time
from dataclasses import dataclass, field
from typing import Any

from tests.benchmarks import soak_scene
from tests.benchmarks.processes import processor_seconds
from tests.benchmarks.servers import running
from tests.benchmarks.soak_scene import Caller, Crowd

ROUNDS, ORDERS, RUN, WRITERS = 9, 160, 10, 16
DEARER, SLOWER = 1.15, 50
# The exit code of `make bench` for figures under their marks.
MISSED = 3


def main() -> int:
    soak_scene.prepare()
    world = soak_scene.fresh_world()
    plain, counted = _stores(world)
    with running("ours") as server:
        buyer, crowd = Caller(server.url, world.as_application()), Crowd(WRITERS)
        rounds, together = [], []
        for number in range(ROUNDS + 1):
            one = _in_turn(buyer, (plain, counted), server.pid)
            many = {store: _crowded(crowd, buyer, store) for store in (plain, counted)}
            if number:
                rounds.append((one[plain], one[counted]))
                together.append(1000 * (_p95(many[counted]) - _p95(many[plain])))
        crowd.pool.shutdown()
    dearer = statistics.median(counted.wall / plain.wall for plain, counted in rounds)
    busier = sum(counted.processor for _, counted in rounds) / sum(plain.processor for plain, _ in rounds)
    slower = statistics.median(together)
    print("| what | measured | mark |\n|---|---|---|")
    print(f"| an order with three budgets, of one without | {dearer:.2f} x | ≤ {DEARER} |")
    print(f"| its processor time, of service and database | {busier:.2f} x | ≤ {DEARER} |")
    print(f"| p95 of {WRITERS} writers on one budget, above that without | {slower:.1f} ms | ≤ {SLOWER} ms |")
    return 0 if max(dearer, busier) <= DEARER and slower <= SLOWER else MISSED


@dataclass
class Cost:
    """Of orders one after the other: the median of their seconds, and their processor time together."""

    seconds: list[float] = field(default_factory=list)
    processor: float = 0.0

    @property
    def wall(self) -> float:
        return statistics.median(self.seconds)


def _in_turn(buyer: Caller, stores: tuple[str, str], server: int) -> dict[str, Cost]:
    """Short runs in turn, each store first as often as the other, so that other work meets both alike."""
    database = int((soak_scene.FOLDER / "postmaster.pid").read_text().split()[0])
    found = {store: Cost() for store in stores}
    for number in range(ORDERS // RUN):
        for store in stores if number % 2 else reversed(stores):
            before = processor_seconds(server) + processor_seconds(database)
            found[store].seconds += _seconds(buyer, store, range(RUN))
            found[store].processor += processor_seconds(server) + processor_seconds(database) - before
    return found


def _stores(world: Any) -> tuple[str, str]:
    from accounts.models import Role
    from accounts.permissions import DEFAULT_STORE_GRANTS
    from tests.factories.budgets import enable_budgets, make_budget
    from tests.factories.orders import make_product

    make_product(world.unassociated)
    Role.objects.bulk_create(
        Role(application=world.application, store=world.unassociated, grant=grant)
        for grant in DEFAULT_STORE_GRANTS
    )
    for store in (world.associated, world.unassociated):
        enable_budgets(store)
    for kind in ("Amount", "Orders", "Quantity"):
        make_budget(world.unassociated, Type=kind, Limit=10**9)
    return world.associated.external_id, world.unassociated.external_id


def _crowded(crowd: Crowd, buyer: Caller, store: str) -> list[float]:
    runs = crowd.pool.map(lambda _: _seconds(buyer, store, range(ORDERS // WRITERS)), range(WRITERS))
    return [seconds for run in runs for seconds in run]


def _seconds(buyer: Caller, store: str, turns: range) -> list[float]:
    from tests.factories.orders import order_body

    found = []
    for _ in turns:
        began = time.perf_counter()
        answer = buyer.call("POST", f"/store/{store}/order", order_body())
        found.append(time.perf_counter() - began)
        assert answer.status_code == 201, answer.text
    return found


def _p95(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=20)[-1]


if __name__ == "__main__":
    sys.exit(main())
