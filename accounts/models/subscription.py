import pghistory
from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models


@pghistory.track()
class Subscription(models.Model):
    """The right to call the API, owned by a user or by an application, proved by either of its two keys."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="subscription"
    )
    application = models.OneToOneField(
        "applications.Application",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="subscription",
    )
    requests_per_minute = models.PositiveIntegerField(
        default=600,
        validators=[MinValueValidator(1), MaxValueValidator(1_000_000)],
        help_text="What is above is answered 429. A change holds from the next request on.",
    )
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(user__isnull=True) ^ models.Q(application__isnull=True),
                name="subscription_has_one_owner",
            ),
        ]

    def __str__(self) -> str:
        return f"Subscription of {self.user or self.application}"


class SubscriptionSlot(models.TextChoices):
    PRIMARY = "primary", "Primary"
    SECONDARY = "secondary", "Secondary"


@pghistory.track(exclude=["digest", "ciphertext"])
class SubscriptionKey(models.Model):
    subscription = models.ForeignKey(Subscription, on_delete=models.CASCADE, related_name="keys")
    slot = models.CharField(max_length=10, choices=SubscriptionSlot.choices)
    digest = models.CharField(max_length=64, unique=True)
    ciphertext = models.BinaryField()
    regenerated = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint("subscription", "slot", name="subscription_key_unique_slot"),
        ]

    def __str__(self) -> str:
        return f"{self.get_slot_display()} key"
