from stores.batches.admin import BatchAdmin
from stores.budgets.admin.budgets import BudgetAdmin
from stores.budgets.admin.cost_centers import CostCenterAdmin
from stores.catalog.admin.stores import StoreAdmin
from stores.catalog.admin.uploads import CatalogUploadAdmin
from stores.orders.admin.approvals import ApprovalRequestAdmin
from stores.orders.admin.orders import OrderAdmin
from stores.orders.admin.quotes import QuoteAdmin
from stores.presets.admin import OutputProfileAdmin, PrintPresetAdmin
from stores.product_pages.admin.products import ProductWithPagesAdmin
from stores.templates.admin import FontAdmin
