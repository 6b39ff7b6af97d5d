import uuid

import pghistory
from django.contrib.postgres.fields import ArrayField
from django.db import models

from applications.registration.models.application import Application


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
