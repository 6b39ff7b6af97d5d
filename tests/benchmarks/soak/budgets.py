"""Orders at once against one budget: exactly as many are accepted as its limit says."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from tests.benchmarks.servers import running
from tests.benchmarks.soak.scene import Caller, Crowd, fresh_world

WRITERS = 50
MARK = "accepted orders = the limit in each round, balances = entries, 0 x 5xx"


def measure(
    count: int = 100, *, orders: int = 1000, limits: Sequence[int] = (1, 10, 500), processes: int = 2
) -> Iterator[str]:
    from tests.factories.budgets import enable_budgets
    from tests.factories.orders import order_body

    world, body, crowd = fresh_world(), order_body(), Crowd(WRITERS)
    enable_budgets(world.associated)
    with running("ours", workers=processes, threads=8) as server, crowd.pool:
        buyer = Caller(server.url, world.as_application())

        def order(_: int) -> int:
            return buyer.call("POST", "/store/associated/order", body).status_code

        for limit in limits:
            answers: Counter[int] = Counter()
            wrong = 0
            for _ in range(count):
                budget = _only_budget(world.associated, limit)
                statuses = Counter(crowd.pool.map(order, range(orders)))
                answers += statuses
                wrong += not _is_exact(budget, limit, statuses)
            broken = sum(number for status, number in answers.items() if status >= 500)
            holds = "FAILED: " if wrong or broken else ""
            yield (
                f"{holds}limit {limit}: {count} rounds of {orders:,} orders by {WRITERS} writers, {count - wrong} "
                f"with exactly {limit} accepted, {broken} x 5xx, answers {dict(sorted(answers.items()))}"
            )


def _only_budget(store: Any, limit: int) -> Any:
    from stores.budgets.models import Budget
    from stores.budgets.services.budgets import change_budget
    from tests.factories.budgets import make_budget

    for former in Budget.objects.filter(store=store, is_enabled=True):
        change_budget(budget=former, values={"IsEnabled": False})
    return make_budget(store, Type="Orders", Limit=limit)


def _is_exact(budget: Any, limit: int, statuses: Counter[int]) -> bool:
    from stores.budgets.services.ledger import check_balances

    accepted = budget.entries.filter(kind="Order").count()
    used = budget.periods.get().used
    return statuses[201] == accepted == used == limit and set(statuses) == {201, 409} and not check_balances()
