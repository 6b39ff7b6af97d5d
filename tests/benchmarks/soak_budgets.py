"""Orders at once against one budget: exactly as many are accepted as its limit says."""

import http.client
import threading
from collections import Counter
from collections.abc import Sequence
from typing import Any

import orjson

from tests.benchmarks.servers import Server, running
from tests.benchmarks.soak_scene import Caller, Crowd, fresh_world

ROUNDS, ORDERS, LIMITS = 100, 1000, (1, 10, 500)
WRITERS = 50
MARK = "accepted orders = the limit in each round, balances = entries, 0 x 5xx"
PATH = "/api/v1/store/associated/order"


def measure(
    rounds: int = ROUNDS, *, orders: int = ORDERS, limits: Sequence[int] = LIMITS, processes: int = 2
) -> list[str]:
    from tests.factories.budgets import enable_budgets
    from tests.factories.orders import order_body

    world, lines, body = fresh_world(), [], orjson.dumps(order_body())
    enable_budgets(world.associated)
    with running("ours", workers=processes, threads=8) as server:
        buyer, crowd = Buyer(server, world.as_application()), Crowd(WRITERS)
        for limit in limits:
            answers: Counter[int] = Counter()
            wrong = 0
            for _ in range(rounds):
                budget = _only_budget(world.associated, limit)
                statuses = list(crowd.pool.map(lambda _: buyer.order(body), range(orders)))
                answers.update(statuses)
                wrong += not _is_exact(budget, limit, Counter(statuses))
            broken = sum(count for status, count in answers.items() if status >= 500)
            holds = "FAILED: " if wrong or broken else ""
            lines.append(
                f"{holds}limit {limit}: {rounds} rounds of {orders:,} orders by {WRITERS} writers, {rounds - wrong} "
                f"with exactly {limit} accepted, {broken} x 5xx, answers {dict(sorted(answers.items()))}"
            )
            print(lines[-1], flush=True)
        crowd.pool.shutdown()
        buyer.close()
    return lines


class Buyer:
    """Orders over connections that are kept, at a cost that leaves the processor to the service."""

    def __init__(self, server: Server, client: Any) -> None:
        self.port, self.local = server.port, threading.local()
        self.opened: list[http.client.HTTPConnection] = []
        self.headers = {"Content-Type": "application/json", **Caller(server.url, client).headers}

    def order(self, body: bytes) -> int:
        if not hasattr(self.local, "connection"):
            self.local.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            self.opened.append(self.local.connection)
        self.local.connection.request("POST", PATH, body, self.headers)
        answer = self.local.connection.getresponse()
        answer.read()
        return int(answer.status)

    def close(self) -> None:
        for connection in self.opened:
            connection.close()


def _only_budget(store: Any, limit: int) -> Any:
    from stores.budgets.models import Budget
    from stores.budgets.services.budgets import change_budget
    from tests.factories.budgets import make_budget

    for former in Budget.objects.filter(store=store, is_enabled=True):
        change_budget(budget=former, values={"IsEnabled": False})
    return make_budget(store, Type="Orders", Limit=limit)


def _is_exact(budget: Any, limit: int, statuses: Counter[int]) -> bool:
    from stores.budgets.services.checks import check_balances

    accepted = budget.entries.filter(kind="Order").count()
    used = budget.periods.get().used
    return statuses[201] == accepted == used == limit and set(statuses) == {201, 409} and not check_balances()
