from django.db import models

from stores.catalog.models.store import Store


class StoreUsage(models.Model):
    """How often the API was called for a store on a day (UTC). Only the service `usage` writes it."""

    pk = models.CompositePrimaryKey("store_id", "day")
    store = models.ForeignKey(Store, on_delete=models.CASCADE, related_name="+", db_index=False)
    day = models.DateField()
    calls = models.BigIntegerField()

    class Meta:
        indexes = [models.Index("day", name="store_usage_day")]

    def __str__(self) -> str:
        return f"{self.calls} calls on {self.day}"
