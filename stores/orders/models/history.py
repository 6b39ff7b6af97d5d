from django.conf import settings
from django.db import models

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

    @property
    def status_words(self) -> str:
        """The status in the language of the page."""
        return OrderStatus(self.status).shown
