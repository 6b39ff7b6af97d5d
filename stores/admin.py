from stores.catalog.admin.history import ProductHistoryAdmin, StoreHistoryAdmin
from stores.catalog.admin.stores import StoreAdmin
from stores.catalog.admin.uploads import CatalogUploadAdmin
from stores.editor.admin.products import ProductWithTemplateAdmin
from stores.orders.admin.history import OrderChangeAdmin
from stores.orders.admin.orders import OrderAdmin
from stores.orders.admin.quotes import QuoteAdmin
from stores.presets.admin.history import OutputProfileHistoryAdmin, PrintPresetHistoryAdmin
from stores.presets.admin.presets import PrintPresetAdmin
from stores.presets.admin.profiles import OutputProfileAdmin
from stores.templates.admin.fonts import FontAdmin
from stores.templates.admin.history import FontHistoryAdmin

__all__ = [
    "CatalogUploadAdmin",
    "FontAdmin",
    "FontHistoryAdmin",
    "OrderAdmin",
    "OrderChangeAdmin",
    "OutputProfileAdmin",
    "OutputProfileHistoryAdmin",
    "PrintPresetAdmin",
    "PrintPresetHistoryAdmin",
    "ProductHistoryAdmin",
    "ProductWithTemplateAdmin",
    "QuoteAdmin",
    "StoreAdmin",
    "StoreHistoryAdmin",
]
