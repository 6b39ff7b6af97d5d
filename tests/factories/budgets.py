"""Budgets as any writer makes them: through the services."""

from decimal import Decimal
from typing import Any

from stores.budgets.models import Budget, CostCenter, CostCenterMember
from stores.budgets.services.budgets import create_budget
from stores.catalog.models import Store
from stores.catalog.models.store import BudgetDuration, BudgetType
from stores.catalog.services.refresh import refresh_renderings


def enable_budgets(store: Store) -> Store:
    store.budget_enabled = True
    store.budget_types, store.budget_durations = list(BudgetType.values), list(BudgetDuration.values)
    store.save()
    refresh_renderings()
    return store


def budget_values(**values: Any) -> dict[str, Any]:
    return {
        "Name": "Marketing",
        "Scope": {"Kind": "Store"},
        "Type": "Amount",
        "Limit": 100,
        "Duration": "Monthly",
        **values,
    }


def make_budget(store: Store, **values: Any) -> Budget:
    values = budget_values(**values)
    return create_budget(store=store, values={**values, "Limit": Decimal(values["Limit"])}).budget


def make_cost_center(store: Store, *people: Any, code: str = "4100") -> CostCenter:
    center = CostCenter.objects.create(store=store, code=code, name=f"Cost center {code}")
    for user in people:
        CostCenterMember.objects.create(cost_center=center, store=store, user=user)
    return center
