"""Events of an application, the endpoints that receive them, and every attempt to deliver one."""

import uuid

import pghistory
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import HashIndex
from django.db import models
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import Cast
from django.utils.translation import gettext_lazy as _

from applications.registration.models import Application

CURRENT_TRANSACTION = Cast(
    Cast(models.Func(function="pg_current_xact_id"), models.TextField()), models.BigIntegerField()
)


class Event(models.Model):
    """A change an application is notified of, written in the transaction of the change itself.

    `store_id` is the StoreID of the contract. Rows become visible in the order of commits, not of `id`: a reader
    that must skip nothing takes those whose `transaction` is older than every running one that may write events.
    """

    event_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    transaction = models.BigIntegerField(db_default=CURRENT_TRANSACTION, editable=False)
    application = models.ForeignKey(
        Application, on_delete=models.CASCADE, related_name="webhook_events", db_index=False
    )
    # The user whose order it is about; orders of an application itself have none.
    user_id = models.UUIDField(null=True, editable=False)
    store_id = models.CharField(max_length=64, blank=True)
    type = models.CharField(max_length=40)
    timestamp = models.DateTimeField()
    data = models.JSONField()

    class Meta:
        indexes = [
            models.Index("application", "transaction", "id", name="event_of_application"),
            models.Index(
                "application",
                "user_id",
                "transaction",
                "id",
                condition=models.Q(user_id__isnull=False),
                name="event_of_user",
            ),
            models.Index("timestamp", name="event_age"),
            # For the erasure of a recipient, which holds the lock of the store's orders.
            HashIndex(KeyTransform("OrderID", "data"), name="event_of_order"),
        ]
        ordering = ["transaction", "id"]

    def __str__(self) -> str:
        return f"{self.type} {self.event_id}"


@pghistory.track(exclude=["failing_since", "warned"])
class Webhook(models.Model):
    """An endpoint that receives an application's events.

    `event_types` holds names and patterns such as `order.*`; without `store_ids` (StoreIDs of the contract) it
    hears of every store. `failing_since` is when the tries began to fail, with no success since. A `deleted` one is
    shown nowhere, and `prune` removes it with its log.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField("URL", max_length=2000)
    event_types = ArrayField(models.CharField(max_length=40), verbose_name="event types")
    store_ids = ArrayField(
        models.CharField(max_length=64), default=list, blank=True, verbose_name="store IDs"
    )
    is_enabled = models.BooleanField("enabled", default=True)
    disabled_reason = models.CharField(max_length=300, blank=True)
    failing_since = models.DateTimeField(null=True, blank=True)
    warned = models.DateTimeField(null=True, blank=True)
    deleted = models.DateTimeField(null=True, blank=True, editable=False)
    created = models.DateTimeField(auto_now_add=True)
    updated = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(event_types__len__gt=0), name="webhook_hears_of_something"
            ),
            models.CheckConstraint(
                condition=models.Q(deleted__isnull=True) | models.Q(is_enabled=False),
                name="webhook_deleted_is_disabled",
            ),
        ]
        indexes = [
            models.Index("deleted", condition=models.Q(deleted__isnull=False), name="webhook_deleted"),
            models.Index(
                "failing_since", condition=models.Q(failing_since__isnull=False), name="webhook_failing"
            ),
        ]
        ordering = ["created"]

    def __str__(self) -> str:
        return self.url


@pghistory.track(exclude=["ciphertext"])
class WebhookSecret(models.Model):
    """A secret that signs requests; after a rotation the old one also signs until it `expires`."""

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="secrets")
    ciphertext = models.BinaryField()
    created = models.DateTimeField(auto_now_add=True)
    expires = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "webhook", condition=models.Q(expires__isnull=True), name="webhook_secret_one_current"
            ),
        ]
        ordering = ["-created"]

    def __str__(self) -> str:
        return f"Secret of {self.webhook_id}"


class DeliveryState(models.TextChoices):
    PENDING = "Pending", _("Pending")
    DELIVERED = "Delivered", _("Delivered")
    FAILED = "Failed", _("Failed")


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
    """One request to a webhook: the status and the start of the response, or why there is none."""

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
