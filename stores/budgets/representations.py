"""The API's records of budgets; stores.budgets.api.serializers describes the same shapes."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from fulfillment.core.text import JsonObject, timestamp
from stores.budgets.models import Budget, BudgetEntry, BudgetLevel, ScopeKind
from stores.budgets.standings import Standing, number

ENTRY_COLUMNS = (
    "EntryID",
    "Kind",
    "Amount",
    "PeriodStart",
    "OrderID",
    "ActorID",
    "ActorName",
    "Note",
    "Created",
)


def budget_record(standing: Standing, store_id: str, names: Mapping[UUID, tuple[str, str]]) -> JsonObject:
    budget = standing.budget
    return {
        "BudgetID": str(budget.pk),
        "StoreID": store_id,
        "Name": budget.name,
        "Scope": _scope_record(budget, store_id, names),
        "Type": budget.type,
        "Limit": number(budget.type, budget.limit),
        "Currency": budget.currency or None,
        "Duration": budget.duration,
        "StartDate": budget.start_date.isoformat(),
        "EndDate": budget.end_date.isoformat() if budget.end_date else None,
        "CarryOver": budget.carry_over,
        "OverBudget": budget.over_budget,
        "WarnAt": budget.warn_at,
        "IsEnabled": budget.is_enabled,
        "Created": timestamp(budget.created),
        "Updated": timestamp(budget.updated),
        "Period": {
            "Start": timestamp(standing.period.starts),
            "End": timestamp(standing.period.ends),
            **standing.amounts,
        },
    }


def quote_budget_record(standing: Standing) -> JsonObject:
    """A budget that binds the caller of a quote."""
    budget = standing.budget
    return {
        "BudgetID": str(budget.pk),
        "Name": budget.name,
        "Type": budget.type,
        **standing.amounts,
        "PeriodEnd": timestamp(standing.period.ends),
        "OverBudget": budget.over_budget,
    }


def gauge_of(standing: Standing) -> JsonObject:
    """How a budget stands, in words and for a bar."""
    used, limit, budget = standing.period.used, standing.limit, standing.budget
    percent = min(float(used * 100 / limit), 100.0) if limit > 0 else 100.0 * bool(used)
    return {
        "standing": standing,
        "percent": round(percent, 2),
        "warn_at": budget.warn_at,
        "level": BudgetLevel(standing.level).name.lower(),
        "used": standing.text(used),
        "limit": standing.text(limit),
        "left": standing.text(max(standing.remaining, standing.remaining * 0)),
        "over": standing.text(-standing.remaining) if standing.remaining < 0 else "",
    }


def entry_record(entry: BudgetEntry, budget: Budget, names: Mapping[UUID, str]) -> JsonObject:
    return {
        "EntryID": str(entry.pk),
        "Kind": entry.kind,
        "Amount": number(budget.type, entry.amount),
        "PeriodStart": timestamp(entry.period.starts),
        "OrderID": str(entry.order_id) if entry.order_id else None,
        "Actor": _actor_record(entry, names),
        "Note": entry.note,
        "Created": timestamp(entry.created),
    }


def entry_cells(record: JsonObject) -> Sequence[Any]:
    """The cells of ENTRY_COLUMNS."""
    actor = record["Actor"] or {"ID": None, "Name": None}
    flat = {**record, "ActorID": actor["ID"], "ActorName": actor["Name"]}
    return [flat[name] for name in ENTRY_COLUMNS]


def _scope_record(budget: Budget, store_id: str, names: Mapping[UUID, tuple[str, str]]) -> JsonObject:
    """The name is null when the person was erased or the application removed."""
    if budget.scope_key is None:
        return {"Kind": ScopeKind.STORE.value, "ID": store_id, "Name": budget.store.company_name}
    shown, name = names.get(budget.scope_key, (str(budget.scope_key), None))
    return {"Kind": budget.scope_kind, "ID": shown, "Name": name}


def _actor_record(entry: BudgetEntry, names: Mapping[UUID, str]) -> JsonObject | None:
    """The actor of an entry; None for what the service did by itself."""
    if entry.actor_user:
        return {"Kind": "User", "ID": str(entry.actor_user), "Name": names.get(entry.actor_user)}
    if entry.actor_application:
        key = entry.actor_application
        return {"Kind": "Application", "ID": str(key), "Name": names.get(key)}
    return None
