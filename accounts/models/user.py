import uuid
from collections.abc import Iterator
from typing import Any, ClassVar

import pghistory
import pgtrigger
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.db.models.functions import Lower
from django.utils.crypto import salted_hmac

from accounts.models.tenant import Tenant
from accounts.names import prepared_name, split_sign_in_name, validate_username
from fulfillment.core.text_validation import VisibleText

# In names that `validate_username` allows, the compatibility form (NFKC) only makes wide letters narrow.
# The two forms of the small sigma count as one: which is written depends on the place, here and not in Python.
FOLLOW_USERNAME = """
IF translate(lower(normalize(NEW.username, NFKC)), 'ς', 'σ') <> translate(lower(normalize(OLD.username, NFKC)), 'ς', 'σ')
THEN
    NEW.prepared_name = lower(normalize(NEW.username, NFKC));
END IF;
RETURN NEW;
"""  # noqa: E501, RUF001


class PreparedNameField(models.TextField):
    """The user name in the form it is compared by; written whenever the row is."""

    def deconstruct(self) -> Any:
        """Migrations see a plain text."""
        name, _, arguments, options = super().deconstruct()
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
        "active", default=True, help_text="An inactive user is refused at once, with every token and session."
    )
    two_factor_since = models.DateTimeField("two-step sign-in since", null=True, blank=True, editable=False)
    time_zone = models.CharField(max_length=64, default="UTC")
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

    def has_perm(self, permission: str, instance: object = None) -> bool:
        return self.is_active and self.is_operator

    def has_perms(self, permissions: list[str], instance: object = None) -> bool:
        return self.is_active and self.is_operator

    def has_module_perms(self, app_label: str) -> bool:
        return self.is_active and self.is_operator
