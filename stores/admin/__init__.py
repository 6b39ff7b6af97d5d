from stores.admin.fonts import FontAdmin
from stores.admin.history import ProductHistoryAdmin, StoreHistoryAdmin
from stores.admin.orders import OrderAdmin, QuoteAdmin
from stores.admin.products import ProductAdmin
from stores.admin.stores import StoreAdmin

__all__ = [
    "FontAdmin",
    "OrderAdmin",
    "ProductAdmin",
    "ProductHistoryAdmin",
    "QuoteAdmin",
    "StoreAdmin",
    "StoreHistoryAdmin",
]
