import uuid

import pghistory
from django.db import models

from applications.registration.models.application import Application


@pghistory.track(exclude=["digest", "ciphertext"])
class ApplicationKey(models.Model):
    """A client secret, valid from `start_date` (inclusive) to `end_date` (exclusive)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="keys")
    start_date = models.DateTimeField()
    end_date = models.DateTimeField()
    digest = models.CharField(max_length=64, unique=True)
    ciphertext = models.BinaryField()
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(end_date__gt=models.F("start_date")),
                name="application_key_ends_after_start",
            ),
        ]
        ordering = ["created"]

    def __str__(self) -> str:
        return f"Key {self.pk}"
