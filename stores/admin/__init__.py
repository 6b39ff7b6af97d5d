from stores.admin.history import ProductHistoryAdmin, StoreHistoryAdmin
from stores.admin.products import ProductAdmin
from stores.admin.stores import StoreAdmin

__all__ = ["ProductAdmin", "ProductHistoryAdmin", "StoreAdmin", "StoreHistoryAdmin"]
