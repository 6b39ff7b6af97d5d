from stores.admin.history import ProductHistoryAdmin, StoreHistoryAdmin
from stores.admin.orders import OrderAdmin, QuoteAdmin
from stores.admin.products import ProductAdmin
from stores.admin.stores import StoreAdmin

__all__ = [
    "OrderAdmin",
    "ProductAdmin",
    "ProductHistoryAdmin",
    "QuoteAdmin",
    "StoreAdmin",
    "StoreHistoryAdmin",
]
