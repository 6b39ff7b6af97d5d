"""Budgets as a small model in memory, and a machine that compares the service with it after every step."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import time_machine
from dateutil.relativedelta import relativedelta
from django.db import connection, transaction
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from accounts.callers import Caller
from accounts.models import Notification, Role
from fulfillment.core.errors import Conflict, Invalid
from stores.budgets.models import Budget
from stores.budgets.selectors.standings import standings_of
from stores.budgets.services.budgets import adjust_budget, change_budget
from stores.budgets.services.claims import (
    count_in_budgets,
    count_reserved_order,
    release_order,
    release_reservation,
    reserve_budgets,
)
from tests.factories.accounts import UserFactory
from tests.factories.budgets import enable_budgets, make_budget
from tests.factories.stores import make_store

STEPS = {
    "Weekly": relativedelta(weeks=1),
    "Monthly": relativedelta(months=1),
    "Quarterly": relativedelta(months=3),
    "Yearly": relativedelta(years=1),
}
STARTED = datetime(2025, 1, 31, 12, tzinfo=UTC)
# The entries summed in another way than the service does it: the periods whose balance is another.
FOLD = """
SELECT count(*) FROM stores_budgetperiod period CROSS JOIN LATERAL (
    SELECT coalesce(sum(amount) FILTER (WHERE kind IN ('Adjustment', 'CarryOver')), 0) AS added,
           coalesce(sum(-amount) FILTER (WHERE kind NOT IN ('Adjustment', 'CarryOver')), 0) AS used
    FROM stores_budgetentry entry WHERE entry.period_id = period.id
) folded
WHERE period.budget_id = ANY(%s) AND (period.added, period.used) <> (folded.added, folded.used)
"""


@dataclass
class ModelPeriod:
    added: Decimal = Decimal(0)
    used: Decimal = Decimal(0)
    late: Decimal = Decimal(0)
    announced: set[int] = field(default_factory=set)


@dataclass
class ModelBudget:
    kind: str
    limit: Decimal
    duration: str
    carries: bool
    over: str
    start: Any
    is_enabled: bool = True
    periods: list[ModelPeriod] = field(default_factory=lambda: [ModelPeriod()])

    def period(self, day: Any) -> ModelPeriod:
        """Every period is made in turn, and adds what the one before left."""
        while self.start + STEPS[self.duration] * len(self.periods) <= day:
            last = self.periods[-1]
            left = max(self.limit + last.added - last.used - last.late, Decimal(0))
            self.periods.append(ModelPeriod(left if self.carries else Decimal(0)))
        return self.periods[-1]

    def takes(self, total: Decimal, quantity: int, orders: int) -> Decimal:
        return {"Amount": total, "Orders": Decimal(orders), "Quantity": Decimal(quantity)}[self.kind]

    def announce(self, period: ModelPeriod) -> None:
        limit = self.limit + period.added
        if not period.used:
            return
        if period.used >= limit:
            period.announced.add(2)
        elif period.used * 100 >= limit * 80 and not period.announced:
            period.announced.add(1)


AMOUNTS = st.decimals(min_value=0, max_value=60, places=0)


class BudgetMachine(RuleBasedStateMachine):
    """Orders, cancellations, batches, adjustments and changes, over years and in every order."""

    steps = 0

    @initialize(
        zone=st.sampled_from(["UTC", "America/Havana", "Pacific/Kiritimati"]),
        plans=st.lists(
            st.tuples(
                st.sampled_from(["Amount", "Orders", "Quantity"]),
                st.integers(0, 100),
                st.sampled_from(list(STEPS)),
                st.booleans(),
                st.sampled_from(["Refuse", "Warn", "Approve"]),
            ),
            min_size=1,
            max_size=3,
        ),
    )
    def begin(self, zone: str, plans: list[Any]) -> None:
        # Each story is a transaction of its own: in a common one every statement passes the rows of all others.
        self.story = transaction.atomic()
        self.story.__enter__()
        self.travel = time_machine.travel(STARTED, tick=False)
        self.clock = self.travel.start()
        self.store = enable_budgets(make_store(TimeZone=zone))
        self.person = UserFactory()
        Role.objects.create(user=self.person, store=self.store, grant="Store.All.Read")
        self.caller = Caller(user_id=uuid4())
        self.orders: list[Any] = []
        self.batches: list[Any] = []
        self.budgets: dict[Any, ModelBudget] = {}
        for kind, limit, duration, carries, over in plans:
            names = {"Type": kind, "Limit": limit, "Duration": duration}
            budget = make_budget(self.store, **names, CarryOver=carries, OverBudget=over)
            self.budgets[budget.pk] = ModelBudget(
                kind, Decimal(limit), duration, carries, over, budget.start_date
            )

    def teardown(self) -> None:
        if hasattr(self, "travel"):
            self.travel.stop()
            transaction.set_rollback(True)
            self.story.__exit__(None, None, None)

    @property
    def day(self) -> Any:
        return timezone.now().astimezone(ZoneInfo(self.store.time_zone)).date()

    def now(self) -> dict[Any, ModelPeriod]:
        return {key: model.period(self.day) for key, model in self.budgets.items()}

    @rule(days=st.integers(1, 400), hours=st.integers(0, 23))
    def wait(self, days: int, hours: int) -> None:
        self.clock.shift(timedelta(days=days if days < 60 else 1, hours=hours))

    @rule(total=AMOUNTS, quantity=st.integers(1, 60))
    def order(self, total: Decimal, quantity: int) -> None:
        placed = self.placed(total, quantity)
        counted = self.claim(placed, 1, lambda: count_in_budgets(order=placed, caller=self.caller))
        if counted is not None:
            self.orders.append((placed, counted))

    def placed(self, total: Decimal, quantity: int) -> Any:
        return SimpleNamespace(
            pk=uuid4(),
            store=self.store,
            user_id=self.caller.user_id,
            application_id=None,
            is_test=False,
            reprint_of_id=None,
            total=total,
            total_quantity=quantity,
            created=timezone.now(),
        )

    def claim(self, placed: Any, orders: int, act: Any) -> Any:
        """What each budget counted, in which period and to its end; None if a budget refused."""
        periods = {key: period for key, period in self.now().items() if self.budgets[key].is_enabled}
        taken = {key: self.budgets[key].takes(placed.total, placed.total_quantity, orders) for key in periods}
        above = {
            self.budgets[key].over
            for key, period in periods.items()
            if taken[key] and period.used + taken[key] > self.budgets[key].limit + period.added
        }
        try:
            with transaction.atomic():
                outcome = act()
        except Conflict:
            assert "Refuse" in above
            return None
        assert "Refuse" not in above
        assert (bool(outcome.reasons), bool(outcome.messages)) == ("Approve" in above, "Warn" in above)
        for key, period in periods.items():
            period.used += taken[key]
            if taken[key]:
                self.budgets[key].announce(period)
        return {key: (periods[key], taken[key], self.ends(key)) for key in periods}

    @rule(total=AMOUNTS, quantity=st.integers(1, 20), orders=st.integers(1, 5))
    def reserve(self, total: Decimal, quantity: int, orders: int) -> None:
        """A batch of equal orders takes its sum before they are written."""
        key, batch = uuid4(), self.placed(total * orders, quantity * orders)
        counted = self.claim(
            batch,
            orders,
            lambda: reserve_budgets(batch=batch, orders=orders, reservation_id=key, caller=self.caller),
        )
        if counted is not None:
            self.batches.append([key, total, quantity, orders, counted])

    @precondition(lambda self: self.batches)
    @rule(choice=st.integers(0, 1000))
    def order_reserved(self, choice: int) -> None:
        """Changes no balance: the order takes the place that was reserved, in the periods of the reservation."""
        batch = self.batches[choice % len(self.batches)]
        key, total, quantity, left, counted = batch
        placed = self.placed(total, quantity)
        count_reserved_order(order=placed, caller=self.caller, reservation_id=key)
        shares = {owner: (period, taken / left, ends) for owner, (period, taken, ends) in counted.items()}
        self.orders.append((placed, shares))
        batch[3:] = [
            left - 1,
            {
                owner: (period, taken - shares[owner][1], ends)
                for owner, (period, taken, ends) in counted.items()
            },
        ]
        if left == 1:
            self.batches.remove(batch)

    @precondition(lambda self: self.batches)
    @rule(choice=st.integers(0, 1000))
    def release_rest(self, choice: int) -> None:
        key, _, _, _, counted = self.batches.pop(choice % len(self.batches))
        release_reservation(reservation_id=key)
        release_reservation(reservation_id=key)
        self.give_back(counted)

    def ends(self, key: Any) -> Any:
        model = self.budgets[key]
        return model.start + STEPS[model.duration] * len(model.periods)

    @precondition(lambda self: self.orders)
    @rule(choice=st.integers(0, 1000))
    def cancel(self, choice: int) -> None:
        placed, counted = self.orders.pop(choice % len(self.orders))
        release_order(order=placed, moment=timezone.now(), caller=self.caller)
        self.give_back(counted)

    def give_back(self, counted: Any) -> None:
        for period, taken, ends in counted.values():
            period.used -= taken
            if self.day >= ends:
                period.late += taken

    @rule(choice=st.integers(0, 2), amount=st.integers(-50, 50).filter(bool))
    def adjust(self, choice: int, amount: int) -> None:
        key = list(self.budgets)[choice % len(self.budgets)]
        model, period = self.budgets[key], self.now()[key]
        budget = Budget.objects.select_related("store").get(pk=key)
        try:
            adjust_budget(budget=budget, amount=Decimal(amount), note="x", caller=self.caller)
        except Invalid:
            assert model.limit + period.added + amount < 0
            return
        period.added += amount
        model.announce(period)

    @rule(choice=st.integers(0, 2), limit=st.integers(0, 120), carries=st.booleans(), enabled=st.booleans())
    def change(self, choice: int, limit: int, *, carries: bool, enabled: bool) -> None:
        key = list(self.budgets)[choice % len(self.budgets)]
        model, period = self.budgets[key], self.now()[key]
        values = {"Limit": Decimal(limit), "CarryOver": carries, "IsEnabled": enabled}
        change_budget(budget=Budget.objects.get(pk=key), values=values)
        model.limit, model.carries, model.is_enabled = Decimal(limit), carries, enabled
        model.announce(period)

    @invariant()
    def service_agrees_with_the_model_and_balances_with_their_entries(self) -> None:
        if not hasattr(self, "budgets"):
            return
        self.steps += 1
        budgets = list(Budget.objects.filter(pk__in=self.budgets))
        for standing in standings_of(budgets, store=self.store, moment=timezone.now()):
            model = self.budgets[standing.budget.pk]
            period = model.period(self.day)
            assert (standing.limit, standing.period.used) == (model.limit + period.added, period.used)
            assert standing.period.number == len(model.periods) - 1
        announced = {
            f"budget:{key}:{number}:{level}"
            for key, model in self.budgets.items()
            for number, period in enumerate(model.periods)
            for level in period.announced
        }
        keys = Notification.objects.filter(user=self.person).values_list("key", flat=True)
        assert set(keys) == announced
        with connection.cursor() as cursor:
            cursor.execute(FOLD, [list(self.budgets)])
            assert cursor.fetchone() == (0,)
