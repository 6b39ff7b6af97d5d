from django.conf import settings
from django.db import models

from stores.catalog.models.store import Store
from stores.orders.models.order import Order
from stores.orders.models.status import ActorKind, OrderStatus


class OrderHistory(models.Model):
    """A change of an order: a transition to a status, or a cancellation request or refusal."""

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="history", db_index=False)
    sequence = models.PositiveIntegerField()
    previous_status = models.PositiveSmallIntegerField(choices=OrderStatus.choices, null=True)
    status = models.PositiveSmallIntegerField(choices=OrderStatus.choices)
    timestamp = models.DateTimeField()
    actor_kind = models.CharField(max_length=11, choices=ActorKind.choices)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    note = models.TextField(blank=True, max_length=1000)

    class Meta:
        constraints = [models.UniqueConstraint("order", "sequence", name="order_history_sequence_unique")]
        ordering = ["order", "sequence"]
        verbose_name_plural = "order history"

    def __str__(self) -> str:
        return f"{self.sequence}: {self.get_status_display()}"


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
    """The number of orders that a store received and shipped on a day in its time zone."""

    pk = models.CompositePrimaryKey("store", "day")
    store = models.ForeignKey(Store, on_delete=models.CASCADE, related_name="+", db_index=False)
    day = models.DateField()
    placed = models.PositiveIntegerField(db_default=0)
    shipped = models.PositiveIntegerField(db_default=0)

    class Meta:
        indexes = [models.Index("day", name="order_day_by_day")]

    def __str__(self) -> str:
        return f"{self.placed} placed, {self.shipped} shipped on {self.day}"
