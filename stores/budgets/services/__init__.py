from stores.budgets.services.claims import BudgetOutcome
from stores.budgets.services.counting import count_order, release_order
from stores.budgets.services.reservations import count_reserved_order, release_reservation, reserve_budgets
