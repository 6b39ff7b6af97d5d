from stores.catalog.admin.history import ProductHistoryAdmin, StoreHistoryAdmin
from stores.catalog.admin.products import ProductAdmin
from stores.catalog.admin.stores import StoreAdmin
from stores.catalog.admin.uploads import CatalogUploadAdmin
from stores.orders.admin.orders import OrderAdmin
from stores.orders.admin.quotes import QuoteAdmin
from stores.templates.admin.fonts import FontAdmin

__all__ = [
    "CatalogUploadAdmin",
    "FontAdmin",
    "OrderAdmin",
    "ProductAdmin",
    "ProductHistoryAdmin",
    "QuoteAdmin",
    "StoreAdmin",
    "StoreHistoryAdmin",
]
