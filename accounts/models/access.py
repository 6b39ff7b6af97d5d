"""Roles and the requests for them, subscriptions and their keys, stored responses and counts of requests."""

import uuid

import pghistory
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.permissions import APPLICATION_GRANTS, GRANT_CHOICES, GRANTS, STORE_GRANTS


@pghistory.track()
class Role(models.Model):
    """A grant. Its subjects are user and store (a user of the store), user and application (who may manage it),
    application and store (an association), or a user alone (a grant over everything).
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="roles"
    )
    application = models.ForeignKey(
        "applications.Application", null=True, blank=True, on_delete=models.CASCADE, related_name="roles"
    )
    store = models.ForeignKey(
        "stores.Store", null=True, blank=True, on_delete=models.CASCADE, related_name="roles"
    )
    grant = models.CharField(max_length=32, choices=GRANT_CHOICES)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "user",
                "application",
                "store",
                "grant",
                name="role_unique",
                nulls_distinct=False,
                violation_error_message=gettext_lazy("This role is already assigned."),
            ),
            models.CheckConstraint(condition=models.Q(grant__in=GRANTS), name="role_grant_known"),
            models.CheckConstraint(
                condition=models.Q(user__isnull=False)
                | models.Q(application__isnull=False, store__isnull=False),
                name="role_joins_something",
                violation_error_message=gettext_lazy(
                    "A role belongs to a user, or associates an application with a store."
                ),
            ),
        ]
        indexes = [
            models.Index("application", "store", name="role_association"),
            models.Index("store", "user", name="role_store_user"),
        ]

    def __str__(self) -> str:
        return f"{self.user or self.application}: {self.get_grant_display()}"

    def clean(self) -> None:
        """Validates a role entered in a form: the model knows this pair of objects, and the grant fits it."""
        if self.user_id and self.application_id and self.store_id:
            raise ValidationError(
                _("A role has two of user, application and store. Leave one of them empty.")
            )
        if not (self.application_id or self.store_id) or not self.grant:
            return
        message, grants = (
            (_("On a store these count: %(grants)s."), STORE_GRANTS)
            if self.store_id
            else (_("On an application these count: %(grants)s."), APPLICATION_GRANTS)
        )
        if self.grant not in grants:
            raise ValidationError({"grant": message % {"grants": ", ".join(sorted(grants))}})


class AssociationState(models.TextChoices):
    PENDING = "Pending", gettext_lazy("Pending")
    APPROVED = "Approved", gettext_lazy("Approved")
    DENIED = "Denied", gettext_lazy("Denied")
    WITHDRAWN = "Withdrawn", gettext_lazy("Withdrawn")


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
    grants = ArrayField(models.CharField(max_length=32, choices=GRANT_CHOICES), default=list, blank=True)
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
        return _("%(application)s requests access to %(record)s") % {
            "application": self.application,
            "record": self.store or self.user,
        }


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
        help_text=gettext_lazy(
            "Further requests in the same minute are refused with status 429. A change applies from the next request."
        ),
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
        return _("Subscription of %(owner)s") % {"owner": self.user or self.application}


class SubscriptionSlot(models.TextChoices):
    PRIMARY = "primary", gettext_lazy("Primary")
    SECONDARY = "secondary", gettext_lazy("Secondary")


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


class IdempotentResponse(models.Model):
    """The response to a request that carried an Idempotency-Key, stored to be repeated.

    `key` and `fingerprint` are keyed digests, `body` is encrypted: a response may hold a secret.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    application = models.ForeignKey(
        settings.OAUTH2_PROVIDER_APPLICATION_MODEL,
        null=True,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,
    )
    key = models.CharField(max_length=64)
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    headers = models.JSONField()
    body = models.BinaryField()
    created = models.DateTimeField()

    class Meta:
        db_table = "accounts_idempotentanswer"
        constraints = [
            models.UniqueConstraint(
                "key", "user", "application", nulls_distinct=False, name="idempotent_answer_unique"
            )
        ]
        indexes = [models.Index("created", name="idempotent_answer_age")]

    def __str__(self) -> str:
        return self.key[:12]


class RequestLease(models.Model):
    """Held while a request with an Idempotency-Key is prepared, outside of its transaction; `key` is a keyed digest.

    The table is not logged: it is written with every order, and after a crash of PostgreSQL no request is under way.
    """

    key = models.CharField(primary_key=True, max_length=64)
    until = models.DateTimeField()

    def __str__(self) -> str:
        return self.key[:12]


class RateWindow(models.Model):
    """The number of requests in the present window of a bucket; `accounts.rate_limits` counts them.

    The table is not logged: it is written with every request, and after a crash of PostgreSQL it starts empty.
    """

    bucket = models.CharField(primary_key=True, max_length=100)
    started = models.DateTimeField()
    used = models.IntegerField()

    def __str__(self) -> str:
        return self.bucket
