from stores.catalog.admin.stores import StoreAdmin
from stores.catalog.admin.uploads import CatalogUploadAdmin
from stores.orders.admin.orders import OrderAdmin
from stores.orders.admin.quotes import QuoteAdmin
from stores.playground.admin.products import ProductWithMailingsAdmin
from stores.presets.admin.presets import PrintPresetAdmin
from stores.presets.admin.profiles import OutputProfileAdmin
from stores.templates.admin.fonts import FontAdmin

__all__ = [
    "CatalogUploadAdmin",
    "FontAdmin",
    "OrderAdmin",
    "OutputProfileAdmin",
    "PrintPresetAdmin",
    "ProductWithMailingsAdmin",
    "QuoteAdmin",
    "StoreAdmin",
]
