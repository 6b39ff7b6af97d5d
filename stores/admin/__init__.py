from stores.admin.fonts import FontAdmin
from stores.admin.history import ProductHistoryAdmin, StoreHistoryAdmin
from stores.admin.products import ProductAdmin
from stores.admin.stores import StoreAdmin

__all__ = ["FontAdmin", "ProductAdmin", "ProductHistoryAdmin", "StoreAdmin", "StoreHistoryAdmin"]
