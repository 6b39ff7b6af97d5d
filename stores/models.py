# ruff: noqa: F401 - Django finds models in this module alone
import stores.batches.models
import stores.budgets.models
import stores.catalog.models
import stores.orders.models
import stores.presets.models
import stores.proofs.models
import stores.templates.models
