from fulfillment.site.admin import JobAdmin

__all__ = ["JobAdmin"]
