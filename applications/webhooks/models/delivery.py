from django.db import models

from applications.webhooks.models.event import Event
from applications.webhooks.models.webhook import Webhook


class DeliveryState(models.TextChoices):
    PENDING = "Pending"
    DELIVERED = "Delivered"
    FAILED = "Failed"


class Delivery(models.Model):
    """One event for one webhook; the API names it by the ID of its event.

    `tries` counts those of the present schedule, and a resend begins a new one. `next_try` is when it is due:
    the worker that takes it moves that ahead, so that a delivery of a killed worker is retried by itself.
    """

    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    state = models.CharField(max_length=9, choices=DeliveryState.choices, default=DeliveryState.PENDING)
    tries = models.PositiveSmallIntegerField(default=0)
    next_try = models.DateTimeField(null=True, blank=True)
    created = models.DateTimeField()

    class Meta:
        verbose_name_plural = "deliveries"
        constraints = [
            models.UniqueConstraint("event", "webhook", name="delivery_once"),
            models.CheckConstraint(
                condition=models.Q(state__in=DeliveryState.values), name="delivery_state_known"
            ),
            models.CheckConstraint(
                condition=models.Q(state=DeliveryState.PENDING) ^ models.Q(next_try__isnull=True),
                name="delivery_pending_has_next_try",
            ),
        ]
        indexes = [
            models.Index("webhook", "id", name="delivery_log"),
            models.Index(
                "webhook",
                "next_try",
                condition=models.Q(state=DeliveryState.PENDING),
                name="delivery_due",
            ),
            models.Index(
                "webhook", "id", condition=models.Q(state=DeliveryState.FAILED), name="delivery_failed"
            ),
        ]
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"Delivery {self.pk}"


class DeliveryAttempt(models.Model):
    """One request to a webhook: the status answered and the start of the answer, or why there is none."""

    delivery = models.ForeignKey(Delivery, on_delete=models.CASCADE, related_name="attempts")
    timestamp = models.DateTimeField()
    milliseconds = models.PositiveIntegerField()
    status_code = models.PositiveSmallIntegerField(null=True, blank=True)
    error = models.CharField(max_length=300, blank=True)
    body = models.TextField(blank=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.timestamp}: {self.status_code or self.error}"
