from stores.budgets.admin.budgets import BudgetAdmin
from stores.budgets.admin.cost_centers import CostCenterAdmin
