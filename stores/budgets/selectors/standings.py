"""The budgets that bind an order, with their periods at a moment."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from accounts.callers import Caller
from fulfillment.core.db.prepared import fetch_row, fetch_rows
from stores.budgets.models import Budget, BudgetEntry, EntryKind
from stores.budgets.standings import MAX_LIMIT, ZERO, Period, Standing, period_bounds, period_number
from stores.catalog.models import Store

COLUMNS = [field.attname for field in Budget._meta.concrete_fields]
LISTED = ", ".join(f'budget."{name}"' for name in COLUMNS)
FITS = """
    budget.store_id = %(store)s AND budget.is_enabled AND budget.start_date <= %(day)s
    AND (budget.end_date IS NULL OR budget.end_date >= %(day)s)
    AND (budget.scope_key IS NULL OR budget.scope_key IN (
        %(user)s::uuid, %(application)s::uuid,
        (SELECT member.cost_center_id FROM stores_costcentermember member
         WHERE member.store_id = %(store)s AND member.user_id = %(user)s::uuid)))
"""
BINDING = f"SELECT {LISTED} FROM stores_budget budget WHERE {FITS} ORDER BY budget.id"  # noqa: S608 - our columns
LOCKED = f"{BINDING} FOR NO KEY UPDATE OF budget"
LATEST = """
SELECT latest.* FROM unnest(%s::uuid[]) AS named(id) CROSS JOIN LATERAL (
    SELECT budget_id, id, number, starts, ends, added, used, level FROM stores_budgetperiod
    WHERE budget_id = named.id ORDER BY number DESC LIMIT 1
) latest
"""
CAME_BACK_LATE = """
SELECT coalesce(sum(amount), 0) FROM stores_budgetentry
WHERE period_id = %s AND kind = 'Release' AND created >= %s
"""


def binding_standings(
    *, store: Store, user_id: UUID | None, application_id: UUID | None, moment: datetime, lock: bool = False
) -> list[Standing]:
    """The enabled budgets that bind an order of this caller, in the order of their IDs.

    With `lock` no other transaction changes them, or what is used of them, until this one ends.
    """
    parameters = parameters_of(store=store, user_id=user_id, application_id=application_id, moment=moment)
    rows = fetch_rows(LOCKED if lock else BINDING, parameters)
    if not rows:
        return []
    # A statement of its own: it sees what was written by the transactions that held the locks before.
    return standings_of([Budget.from_db("default", COLUMNS, row) for row in rows], store=store, moment=moment)


def parameters_of(
    *, store: Store, user_id: UUID | None, application_id: UUID | None, moment: datetime
) -> dict[str, Any]:
    """The parameters of FITS, and the moment."""
    return {
        "store": store.pk,
        "day": store.local_date(moment),
        "user": user_id,
        "application": application_id,
        "at": moment,
    }


def standings_of_caller(caller: Caller, *, store: Store, moment: datetime) -> list[Standing]:
    """The budgets that bind the caller's orders; none bind at the demo store, or those of test applications."""
    if not store.budget_enabled or store.is_demo or caller.is_test:
        return []
    return binding_standings(
        store=store, user_id=caller.user_id, application_id=caller.application_id, moment=moment
    )


def standings_with_orders(order_ids: Iterable[UUID]) -> dict[UUID, list[Standing]]:
    """How the budgets that counted these orders stand in the periods that did, with the orders in them."""
    counted = BudgetEntry.objects.filter(order_id__in=list(order_ids), kind=EntryKind.ORDER)
    standings_by_order: dict[Any, list[Standing]] = {}
    for entry in counted.select_related("budget", "period").order_by("budget__name", "budget"):
        period: Any = entry.period
        standings_by_order.setdefault(entry.order_id, []).append(Standing(entry.budget, period))
    return standings_by_order


def standings_of(budgets: Sequence[Budget], *, store: Store, moment: datetime) -> list[Standing]:
    """Each in its period of the moment; before its start in the first one, after its end in the last one."""
    rows = fetch_rows(LATEST, ([budget.pk for budget in budgets],))
    latest = {budget_id: Period(*columns) for budget_id, *columns in rows}
    for budget in budgets:
        # Otherwise the record of each would look up its name.
        budget.store = store
    return [
        Standing(budget, _find_period(budget, latest.get(budget.pk), store, moment)) for budget in budgets
    ]


def _find_period(budget: Budget, latest: Period | None, store: Store, moment: datetime) -> Period:
    """The period of the moment. One that was written lasts to its end, also where the store changes its time zone."""
    if latest is not None and moment < latest.ends:
        return latest
    day = store.local_date(moment)
    day = max(min(day, budget.end_date or day), budget.start_date)
    number = period_number(budget.duration, budget.start_date, day)
    if latest is not None and latest.number >= number:
        return latest
    starts, ends = period_bounds(budget.duration, budget.start_date, number, store.time_zone)
    carried = _carried_amount(budget, latest, number, store) if budget.carry_over else ZERO
    added = min(carried, MAX_LIMIT - budget.limit)
    return Period(None, number, starts, ends, added, ZERO)


def _carried_amount(budget: Budget, latest: Period | None, number: int, store: Store) -> Decimal:
    """What the periods before `number` left; those in between, and those of no entry, were not used at all.

    What came back after its period ended is not carried on.
    """
    if latest is None:
        first = max(store.local_date(budget.created), budget.start_date)
        return budget.limit * (number - period_number(budget.duration, budget.start_date, first))
    late: tuple[Any, ...] = fetch_row(CAME_BACK_LATE, (latest.pk, latest.ends)) or (ZERO,)
    remaining = max(budget.limit + latest.added - latest.used - late[0], ZERO)
    return remaining + budget.limit * (number - latest.number - 1)
