import uuid

from django.contrib.postgres.indexes import HashIndex
from django.db import models
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import Cast

from applications.registration.models.application import Application

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
    store_id = models.CharField(max_length=64, blank=True)
    type = models.CharField(max_length=40)
    timestamp = models.DateTimeField()
    data = models.JSONField()

    class Meta:
        indexes = [
            models.Index("application", "transaction", "id", name="event_of_application"),
            models.Index("timestamp", name="event_age"),
            # For the erasure of a recipient, which holds the lock of the store's orders.
            HashIndex(KeyTransform("OrderID", "data"), name="event_of_order"),
        ]
        ordering = ["transaction", "id"]

    def __str__(self) -> str:
        return f"{self.type} {self.event_id}"
