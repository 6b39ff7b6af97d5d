import uuid

import pghistory
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

from accounts.permissions import Grant


class AssociationState(models.TextChoices):
    PENDING = "Pending"
    APPROVED = "Approved"
    DENIED = "Denied"
    WITHDRAWN = "Withdrawn"


@pghistory.track()
class AssociationRequest(models.Model):
    """A request for access: of an application to a store, or of a user to an application."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    application = models.ForeignKey(
        "applications.Application", on_delete=models.CASCADE, related_name="association_requests"
    )
    store = models.ForeignKey(
        "stores.Store", null=True, blank=True, on_delete=models.CASCADE, related_name="association_requests"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="association_requests",
    )
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    grants = ArrayField(models.CharField(max_length=32, choices=Grant.choices), default=list, blank=True)
    message = models.TextField(blank=True, max_length=2000)
    state = models.CharField(
        max_length=10, choices=AssociationState.choices, default=AssociationState.PENDING
    )
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    decided = models.DateTimeField(null=True, blank=True)
    note = models.TextField(blank=True, max_length=2000)
    created = models.DateTimeField(auto_now_add=True)
    updated = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "application",
                "store",
                "user",
                condition=models.Q(state=AssociationState.PENDING),
                nulls_distinct=False,
                name="association_request_one_pending",
            ),
            models.CheckConstraint(
                condition=models.Q(store__isnull=True) ^ models.Q(user__isnull=True),
                name="association_request_one_kind",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=AssociationState.values), name="association_request_state_known"
            ),
            models.CheckConstraint(
                condition=models.Q(state=AssociationState.PENDING) ^ models.Q(decided__isnull=False),
                name="association_request_decided_has_date",
            ),
        ]
        indexes = [models.Index("state", "created", name="association_request_inbox")]
        ordering = ["-created"]

    def __str__(self) -> str:
        return f"{self.application} requests access to {self.store or self.user}"
