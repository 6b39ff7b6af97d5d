"""Tenants and the people in them, who sign in as name@domain, with their second factor and notifications."""

import uuid
from collections.abc import Iterator
from typing import Any, ClassVar

import pghistory
import pgtrigger
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.core.validators import RegexValidator
from django.db import models
from django.db.models.functions import Lower
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _

from accounts.names import prepared_name, split_sign_in_name, validate_username
from fulfillment.core.environment import DOMAIN_NAME
from fulfillment.core.text import VisibleText

# In names that `validate_username` allows, the compatibility form (NFKC) only makes wide letters narrow.
# The two forms of the small sigma count as one: which is written depends on the place, here and not in Python.
FOLLOW_USERNAME = """
IF translate(lower(normalize(NEW.username, NFKC)), 'ς', 'σ') <> translate(lower(normalize(OLD.username, NFKC)), 'ς', 'σ')
THEN
    NEW.prepared_name = lower(normalize(NEW.username, NFKC));
END IF;
RETURN NEW;
"""  # noqa: E501, RUF001


@pghistory.track()
class Tenant(models.Model):
    """An organisation, named by its domain; the names of its users are unique within it."""

    domain = models.CharField(
        max_length=253,
        validators=[
            RegexValidator(f"^{DOMAIN_NAME.pattern}", _("Write a domain name, such as example.com."))
        ],
    )
    name = models.CharField(max_length=200)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(Lower("domain"), name="tenant_domain_unique")]
        ordering = ["domain"]

    def __str__(self) -> str:
        return self.domain


class PreparedNameField(models.TextField):
    """The user name in the form it is compared by; written whenever the row is."""

    def deconstruct(self) -> Any:
        """Migrations see a plain text."""
        name, _path, arguments, options = super().deconstruct()
        return name, "django.db.models.TextField", arguments, options

    def pre_save(self, instance: Any, add: bool) -> str:
        value = prepared_name(instance.username)
        setattr(instance, self.attname, value)
        return value


class UserManager(BaseUserManager["User"]):
    def get_by_natural_key(self, username: str | None) -> "User":
        """The user named `name@domain`; a name alone belongs to the default tenant."""
        name, domain = split_sign_in_name(username or "")
        return self.select_related("tenant").get(prepared_name=name, tenant__domain__iexact=domain)

    def create_superuser(self, username: str, password: str, **fields: Any) -> "User":
        """Django's command of this name creates an operator; `create_operator` is the preferred one."""
        user = self.model(username=username, is_operator=True, **fields)
        validate_username(username)
        user.set_password(password)
        user.save(using=self._db)
        return user


@pghistory.track(exclude=["password", "last_login", "counted_on", "prepared_name"])
class User(VisibleText, AbstractBaseUser):  # type: ignore[django-manager-missing]  # the toolkit's manager is untyped
    """A person who signs in. Operators run the service and are the staff of its admin."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="users")
    # The length of the column is that of names given before `validate_username` was the rule.
    username = models.CharField(max_length=150, validators=[validate_username])
    # NULL only in what the release before writes, until a trigger fills it.
    prepared_name = PreparedNameField(null=True, editable=False)
    first_name = models.CharField(max_length=150, blank=True)
    last_name = models.CharField(max_length=150, blank=True)
    email = models.EmailField()
    email_confirmed = models.DateTimeField("e-mail confirmed", null=True, blank=True, editable=False)
    # The creator. Until the address is confirmed, requests count on the creator's limit; also limits new accounts.
    counted_on = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        db_index=False,
        editable=False,
    )
    phone = models.CharField(max_length=50, blank=True)
    is_operator = models.BooleanField("operator", default=False)
    is_active = models.BooleanField(
        "active",
        default=True,
        help_text=_("Inactive users cannot sign in. Their sessions and tokens stop working immediately."),
    )
    two_factor_since = models.DateTimeField("two-step sign-in since", null=True, blank=True, editable=False)
    time_zone = models.CharField(max_length=64, default="UTC")
    # The language of pages and mails; empty for the browser's.
    language = models.CharField(
        max_length=2, blank=True, choices=settings.LANGUAGES, default="", db_default=""
    )
    created = models.DateTimeField(auto_now_add=True)
    updated = models.DateTimeField(auto_now=True)

    objects: ClassVar[UserManager] = UserManager()

    visible_lines = ("first_name", "last_name", "phone")

    USERNAME_FIELD = "username"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS = ["email", "tenant"]

    class Meta:
        constraints = [
            models.UniqueConstraint("tenant", "prepared_name", name="user_name_unique"),
        ]
        indexes = [
            models.Index("tenant", Lower("email"), name="user_email_lower"),
            models.Index(
                Lower("email"),
                condition=models.Q(email_confirmed__isnull=False),
                name="user_confirmed_email_lower",
            ),
            models.Index(
                "counted_on",
                "created",
                condition=models.Q(counted_on__isnull=False),
                name="user_accounts_of_a_day",
            ),
        ]
        triggers = [
            # Written by the previous release during a deployment, which does not know this column.
            pgtrigger.Trigger(
                name="prepare_name",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert,
                condition=pgtrigger.Q(new__prepared_name__isnull=True),
                func="NEW.prepared_name = lower(normalize(NEW.username, NFC)); RETURN NEW;",
            ),
            # Written by `update(username=…)` or SQL, which set only the one column.
            pgtrigger.Trigger(
                name="follow_username",
                when=pgtrigger.Before,
                operation=pgtrigger.UpdateOf("username"),
                condition=pgtrigger.Q(
                    new__username__df=pgtrigger.F("old__username"),
                    new__prepared_name__ndf=pgtrigger.F("old__prepared_name"),
                ),
                func=FOLLOW_USERNAME,
            ),
        ]
        ordering = ["username"]

    def __str__(self) -> str:
        return self.username

    @property
    def is_staff(self) -> bool:
        return self.is_operator

    @classmethod
    def normalize_username(cls, username: str) -> str:
        """Unchanged: Django would replace compatibility letters, which `validate_username` refuses."""
        return username

    def get_session_auth_hash(self) -> str:
        """Includes the second step, so that turning it on or off ends all other sessions."""
        return self._session_hash()

    def get_session_auth_fallback_hash(self) -> Iterator[str]:
        for secret in settings.SECRET_KEY_FALLBACKS:
            yield self._session_hash(secret)

    def _session_hash(self, secret: str | None = None) -> str:
        since = self.two_factor_since.isoformat() if self.two_factor_since else ""
        salt = "django.contrib.auth.models.AbstractBaseUser.get_session_auth_hash"
        return salted_hmac(salt, self.password + since, secret=secret, algorithm="sha256").hexdigest()

    @property
    def full_name(self) -> str:
        return f"{self.first_name} {self.last_name}".strip() or self.username

    @property
    def responsible_id(self) -> uuid.UUID:
        """The ID of the person whose limits hold: the one who made this account, until its address is confirmed."""
        return self.pk if self.email_confirmed is not None else self.counted_on_id or self.pk

    def has_perm(self, permission: str, instance: object = None) -> bool:
        return self.is_active and self.is_operator

    def has_perms(self, permissions: list[str], instance: object = None) -> bool:
        return self.is_active and self.is_operator

    def has_module_perms(self, app_label: str) -> bool:
        return self.is_active and self.is_operator


class Authenticator(models.Model):
    """The app on a user's phone that makes codes (TOTP, RFC 6238): its secret, and the last step that was used up."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="authenticator"
    )
    ciphertext = models.BinaryField()
    last_step = models.BigIntegerField()
    created = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"Authenticator of {self.user_id}"


class RecoveryCode(models.Model):
    """A code that replaces the second factor once. `digest` is keyed with the authenticator's secret."""

    authenticator = models.ForeignKey(
        Authenticator, on_delete=models.CASCADE, related_name="recovery_codes", db_index=False
    )
    digest = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint("authenticator", "digest", name="recovery_code_unique"),
        ]

    def __str__(self) -> str:
        return self.digest[:8]


class EmailChange(models.Model):
    """A new address of a user, valid once it is confirmed by the mailed link.

    `digest` is that of the token in the mail. `password_digest` ties the change to the current password: changing the
    password ends it.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="email_change"
    )
    email = models.EmailField()
    digest = models.CharField(max_length=64, unique=True)
    password_digest = models.CharField(max_length=64)
    requested = models.DateTimeField(db_column="asked")
    expires = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.user} to {self.email}"


class NotificationKind(models.TextChoices):
    REQUEST_DECIDED = "request_decided", _("A request for a store or an application is decided")
    KEY_ENDING = "key_ending", _("A key of an application ends in 30, 7 or 1 days")
    WEBHOOK_FAILING = "webhook_failing", _("A webhook fails or is disabled")
    OWNER_INVITED = "owner_invited", _("A new owner is invited to an application")
    QUOTA_NEAR = "quota_near", _("A rate limit is used to 80%")
    JOB_FAILED = "job_failed", _("A print job of one of your stores fails")
    APPROVAL_REQUESTED = "approval_requested", _("An order of one of your stores needs your approval")
    APPROVAL_DECIDED = "approval_decided", _("Your order is approved or denied, or its approval expires")
    BUDGET_USED = "budget_used", _("A budget of one of your stores is nearly or fully used")
    NEW_SIGN_IN = "new_sign_in", _("Your account is used in a new browser")


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
