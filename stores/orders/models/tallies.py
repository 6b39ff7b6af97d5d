from django.conf import settings
from django.db import models

from stores.catalog.models.store import Store
from stores.orders.models.status import OrderStatus


class OrderTally(models.Model):
    """The number of orders by store, application and status, so that pages need not count the orders."""

    store = models.ForeignKey(Store, on_delete=models.CASCADE, related_name="+", db_index=False)
    application = models.ForeignKey(
        settings.OAUTH2_PROVIDER_APPLICATION_MODEL,
        null=True,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
    )
    status = models.PositiveSmallIntegerField(choices=OrderStatus.choices)
    orders = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "store", "application", "status", nulls_distinct=False, name="order_tally_unique"
            )
        ]

    def __str__(self) -> str:
        return f"{self.orders} {self.get_status_display()}"


class OrderDay(models.Model):
    """The orders that a store received, with their totals in its currency, and shipped on a day in its time zone."""

    pk = models.CompositePrimaryKey("store", "day")
    store = models.ForeignKey(Store, on_delete=models.CASCADE, related_name="+", db_index=False)
    day = models.DateField()
    placed = models.PositiveIntegerField(db_default=0)
    shipped = models.PositiveIntegerField(db_default=0)
    amount = models.DecimalField(max_digits=16, decimal_places=2, db_default=0)

    class Meta:
        indexes = [models.Index("day", name="order_day_by_day")]

    def __str__(self) -> str:
        return f"{self.placed} placed, {self.shipped} shipped on {self.day}"
