import uuid

import pghistory
from django.conf import settings
from django.db import models
from django.db.models.functions import Lower

from applications.registration.models.application import Application


class InvitationState(models.TextChoices):
    PENDING = "Pending"
    ACCEPTED = "Accepted"
    DECLINED = "Declined"
    WITHDRAWN = "Withdrawn"


@pghistory.track(exclude=["digest"])
class OwnerInvitation(models.Model):
    """The holder of the mailed link may become an owner of the application, with any account.

    `digest` is that of the token in the link. After `expires` a pending one is invalid.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="owner_invitations")
    email = models.EmailField()
    invited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    digest = models.CharField(max_length=64, unique=True)
    state = models.CharField(max_length=10, choices=InvitationState.choices, default=InvitationState.PENDING)
    sent = models.DateTimeField()
    expires = models.DateTimeField()
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    decided = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "application",
                Lower("email"),
                condition=models.Q(state=InvitationState.PENDING),
                name="owner_invitation_one_pending",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=InvitationState.values), name="owner_invitation_state_known"
            ),
            models.CheckConstraint(
                condition=models.Q(state=InvitationState.PENDING) ^ models.Q(decided__isnull=False),
                name="owner_invitation_decided_has_date",
            ),
        ]
        indexes = [models.Index("invited_by", "sent", name="owner_invitation_rate")]
        ordering = ["-sent"]

    def __str__(self) -> str:
        return f"{self.email} to {self.application}"
