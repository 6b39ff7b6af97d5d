from stores.budgets.services.claims import (
    BudgetOutcome,
    count_order,
    count_reserved_order,
    release_order,
    release_reservation,
    reserve_budgets,
)
