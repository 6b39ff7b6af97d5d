from django.conf import settings
from django.db import models

from stores.orders.models.order import Order

MAX_COMMENT_LENGTH = 2000


class OrderComment(models.Model):
    """An internal note of store staff on an order; applications and recipients never see it."""

    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="comments", db_index=False)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    text = models.TextField(max_length=MAX_COMMENT_LENGTH)
    created = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index("order", "id", name="order_comment_of_order"),
            models.Index("author", condition=models.Q(author__isnull=False), name="order_comment_of_author"),
        ]
        ordering = ["order", "id"]

    def __str__(self) -> str:
        return self.text[:60]
