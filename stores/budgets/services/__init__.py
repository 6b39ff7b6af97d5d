from stores.budgets.services.counting import BudgetOutcome, count_order, release_order

__all__ = ["BudgetOutcome", "count_order", "release_order"]
