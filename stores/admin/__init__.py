from stores.admin.catalog_uploads import CatalogUploadAdmin
from stores.admin.fonts import FontAdmin
from stores.admin.history import ProductHistoryAdmin, StoreHistoryAdmin
from stores.admin.orders import OrderAdmin
from stores.admin.products import ProductAdmin
from stores.admin.quotes import QuoteAdmin
from stores.admin.stores import StoreAdmin

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
