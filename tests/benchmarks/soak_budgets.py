"""Orders at once against one budget: exactly as many are accepted as its limit says."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from tests.benchmarks.servers import running
from tests.benchmarks.soak_scene import Caller, Crowd, fresh_world

ROUNDS, ORDERS, LIMITS = 100, 1000, (1, 10, 500)
WRITERS = 50
MARK = "accepted orders = the limit in each round, balances = entries, 0 x 5xx"
PATH = "/store/associated/order"


def measure(
    rounds: int = ROUNDS, *, orders: int = ORDERS, limits: Sequence[int] = LIMITS, processes: int = 2
) -> list[str]:
    from tests.factories.budgets import enable_budgets
    from tests.factories.orders import order_body

    world, lines = fresh_world(), []
    enable_budgets(world.associated)
    with running("ours", workers=processes, threads=8) as server:
        buyer, crowd = Caller(server.url, world.as_application()), Crowd(WRITERS)
        for limit in limits:
            answers: Counter[int] = Counter()
            wrong = 0
            for _ in range(rounds):
                budget = _only_budget(world.associated, limit)
                statuses = list(
                    crowd.pool.map(
                        lambda _: buyer.call("POST", PATH, order_body()).status_code, range(orders)
                    )
                )
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
    return lines


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
