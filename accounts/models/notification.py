from django.conf import settings
from django.db import models


class NotificationKind(models.TextChoices):
    REQUEST_DECIDED = "request_decided", "A request for a store or an application is decided"
    KEY_ENDING = "key_ending", "A key of an application ends in 30, 7 or 1 days"
    WEBHOOK_FAILING = "webhook_failing", "A webhook fails or is disabled"
    OWNER_INVITED = "owner_invited", "A new owner is invited to an application"
    QUOTA_NEAR = "quota_near", "A rate limit is used to 80 %"
    JOB_FAILED = "job_failed", "A print job of one of your stores fails"
    NEW_SIGN_IN = "new_sign_in", "Your account is used in a browser it was not used in before"


class Notification(models.Model):
    """A notification in the portal, by mail, or both. A user gets the same `key` once."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notifications", db_index=False
    )
    kind = models.CharField(max_length=20, choices=NotificationKind.choices)
    key = models.CharField(max_length=120)
    title = models.CharField(max_length=200)
    text = models.CharField(max_length=1000, blank=True)
    path = models.CharField(max_length=300)
    in_bell = models.BooleanField()
    created = models.DateTimeField()
    read = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint("user", "key", name="notification_once")]
        indexes = [
            models.Index("user", "id", condition=models.Q(in_bell=True), name="notification_bell"),
            models.Index(
                "user", condition=models.Q(in_bell=True, read__isnull=True), name="notification_unread"
            ),
        ]

    def __str__(self) -> str:
        return self.title


class NotificationPreference(models.Model):
    """The channels of one kind of notification for a user; without a row, the portal and mail."""

    pk = models.CompositePrimaryKey("user_id", "kind")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="notification_preferences",
        db_index=False,
    )
    kind = models.CharField(max_length=20, choices=NotificationKind.choices)
    in_bell = models.BooleanField()
    by_mail = models.BooleanField()

    def __str__(self) -> str:
        return self.kind
