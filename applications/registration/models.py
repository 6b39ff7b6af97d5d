"""OAuth clients with their keys, icons, invitations of owners, and the log and counts of their calls."""

import uuid
from typing import Any

import pghistory
import pgtrigger
from django.conf import settings
from django.core.validators import RegexValidator, URLValidator
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from oauth2_provider.models import AbstractApplication, ApplicationManager

from fulfillment.core.text import VisibleText

EXTERNAL_ID = r"^[A-Za-z0-9._~-]{1,64}\Z"
validate_web_address = URLValidator(schemes=["https", "http"])
UUID_TEXT = r"^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\Z"


@pghistory.track(
    exclude=[
        "client_secret",
        "hash_client_secret",
        "algorithm",
        "allowed_origins",
        "registration_source",
        "cimd_expires_at",
        "post_logout_redirect_uris",
        "skip_authorization",
        "authorization_grant_type",
        "is_test",
    ],
)
class Application(VisibleText, AbstractApplication):
    """A registered OAuth client. `client_id` is its External_ID; its secrets are the valid ApplicationKeys.

    The toolkit's own `client_secret` is never read. `client_type` follows the keys: without any it is public.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="owned_applications",
        verbose_name="owner",
    )
    description = models.TextField(blank=True, max_length=4000)
    application_url = models.CharField(blank=True, max_length=2000, validators=[validate_web_address])
    is_enabled = models.BooleanField("enabled", default=True)
    is_blocked = models.BooleanField(
        "blocked",
        default=False,
        db_default=False,
        help_text=_("The application is disabled, and its owners cannot enable it."),
    )
    support_url = models.CharField(blank=True, max_length=2000, validators=[validate_web_address])
    support_phone = models.CharField(blank=True, max_length=50)
    support_email = models.EmailField(blank=True)
    implicit_flow_allowed = models.BooleanField(default=False)
    is_first_party = models.BooleanField(
        "first-party",
        default=False,
        help_text=_(
            "Part of this service. It needs no association with a store: only the user's own grants count."
        ),
    )

    is_test = models.BooleanField(
        "test application",
        default=False,
        db_default=False,
        editable=False,
        help_text=_("Everything created with its credentials is test data. This cannot be changed."),
    )

    visible_lines = ("name", "support_phone")
    visible_texts = ("description",)

    objects = ApplicationManager()

    class Meta(AbstractApplication.Meta):
        abstract = False
        constraints = [
            models.CheckConstraint(
                condition=models.Q(client_id__regex=EXTERNAL_ID) & ~models.Q(client_id__regex=UUID_TEXT),
                name="application_external_id_form",
            ),
            models.CheckConstraint(
                condition=models.Q(is_test=False) | models.Q(is_first_party=False),
                name="application_test_is_not_ours",
            ),
        ]
        ordering = ["name"]
        triggers = [
            # Fixed, because existing data has the mode of the application.
            pgtrigger.Protect(
                name="keep_mode",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__is_test__df=pgtrigger.F("new__is_test")),
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def external_id(self) -> str:
        return self.client_id

    @property
    def reply_urls(self) -> list[str]:
        return self.redirect_uris.split()

    def allows_grant_type(self, *grant_types: str) -> bool:
        allowed_types = {self.GRANT_AUTHORIZATION_CODE}
        if self.client_type == self.CLIENT_CONFIDENTIAL:
            allowed_types.add(self.GRANT_CLIENT_CREDENTIALS)
        if self.implicit_flow_allowed and settings.IMPLICIT_FLOW_ENABLED:
            allowed_types.add(self.GRANT_IMPLICIT)
        return not allowed_types.isdisjoint(grant_types)

    def is_usable(self, request: Any) -> bool:
        return self.is_enabled

    def clean(self) -> None:
        """Nothing: the services hold the rules. The library's refuse an application without reply URLs, on a field of
        its own that no form of ours has."""

    def get_absolute_url(self) -> str:
        return f"/applications/{self.pk}"


validate_external_id = RegexValidator(EXTERNAL_ID, _("Use 1 to 64 letters, digits and . _ ~ - only."))


@pghistory.track(exclude=["image", "central_image"])
class ApplicationIcon(models.Model):
    """PNG files re-encoded from the upload: 215 x 215 pixels and the central 94 x 94 of it."""

    application = models.OneToOneField(Application, on_delete=models.CASCADE, related_name="icon")
    image = models.BinaryField()
    central_image = models.BinaryField()
    sha256 = models.CharField(max_length=64, db_index=True)
    reaches_outside_centre = models.BooleanField()
    updated = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"Icon of {self.application}"


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


class InvitationState(models.TextChoices):
    PENDING = "Pending", _("Pending")
    ACCEPTED = "Accepted", _("Accepted")
    DECLINED = "Declined", _("Declined")
    WITHDRAWN = "Withdrawn", _("Withdrawn")


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


class Milestone(models.Model):
    """A first step of an application that no other record shows."""

    pk = models.CompositePrimaryKey("application_id", "name")
    application = models.ForeignKey(
        Application, on_delete=models.CASCADE, related_name="milestones", db_index=False
    )
    name = models.CharField(max_length=20)
    reached = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return f"{self.name} of {self.application_id}"


class DailyUsage(models.Model):
    """How often an application called the API on a day (UTC). Only the service `usage` writes it."""

    pk = models.CompositePrimaryKey("application_id", "day")
    application = models.ForeignKey(
        Application, on_delete=models.CASCADE, related_name="daily_usage", db_index=False
    )
    day = models.DateField()
    calls = models.BigIntegerField()
    client_errors = models.BigIntegerField()
    server_errors = models.BigIntegerField()

    class Meta:
        indexes = [models.Index("day", name="usage_day")]

    def __str__(self) -> str:
        return f"{self.calls} calls on {self.day}"


class LoggedRequest(models.Model):
    """An API call of an application, written only by the service `request_log`.

    No body of a successful call, no query and no value of a path is kept; `headers` are those of a list. Of a
    refusal `problem` keeps what was wrong and where.
    """

    # Without constraints: the statement that adds rows joins both tables.
    application = models.ForeignKey(
        Application,
        on_delete=models.CASCADE,
        related_name="logged_requests",
        db_index=False,
        db_constraint=False,
    )
    # Used only to erase a user.
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    time = models.DateTimeField()
    method = models.CharField(max_length=10)
    path = models.CharField(max_length=200)
    status = models.PositiveSmallIntegerField()
    code = models.CharField(max_length=80)
    pointer = models.CharField(max_length=300)
    microseconds = models.PositiveIntegerField()
    request_id = models.UUIDField()
    headers = models.JSONField()
    problem = models.JSONField(null=True)

    class Meta:
        indexes = [
            models.Index("application", "time", "id", name="request_log"),
            models.Index(
                "application",
                "time",
                "id",
                condition=models.Q(status__gte=400),
                name="request_log_refused",
            ),
            models.Index("request_id", name="request_log_id"),
        ]

    def __str__(self) -> str:
        return f"{self.method} {self.path}: {self.status}"

    @property
    def milliseconds(self) -> float:
        return self.microseconds / 1000
