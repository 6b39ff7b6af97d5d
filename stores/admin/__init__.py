from stores.admin.fonts import FontAdmin
from stores.admin.history import ProductHistoryAdmin, StoreHistoryAdmin
from stores.admin.orders import OrderAdmin
from stores.admin.products import ProductAdmin
from stores.admin.quotes import QuoteAdmin
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
