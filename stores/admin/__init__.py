from stores.admin.stores import StoreAdmin

__all__ = ["StoreAdmin"]
