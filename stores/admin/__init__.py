from stores.admin.fonts import FontAdmin
from stores.admin.stores import StoreAdmin

__all__ = ["FontAdmin", "StoreAdmin"]
