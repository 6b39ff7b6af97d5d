import uuid
from collections.abc import Iterator
from typing import Any, ClassVar

import pghistory
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.core.validators import RegexValidator
from django.db import models
from django.db.models.functions import Lower
from django.utils.crypto import salted_hmac

from accounts.models.tenant import Tenant
from fulfillment.text_validation import VisibleText

USERNAME = r"^[\w.@+-]{1,150}\Z"


class UserManager(BaseUserManager["User"]):
    def get_by_natural_key(self, username: str | None) -> "User":
        """The user named `name@domain`; a name alone is looked up when only one tenant has it."""
        name, separator, domain = (username or "").rpartition("@")
        if separator:
            matches = self.filter(username__iexact=name, tenant__domain__iexact=domain)
            if found := matches.select_related("tenant").first():
                return found
        return self.select_related("tenant").get(username__iexact=username)

    def create_superuser(self, username: str, password: str, **fields: Any) -> "User":
        """Django's command of this name makes an operator; our services are the usual way."""
        user = self.model(username=username, is_operator=True, **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user


@pghistory.track(exclude=["password", "last_login", "counted_on"])
class User(VisibleText, AbstractBaseUser):  # type: ignore[django-manager-missing]  # the toolkit's manager is untyped
    """A person who signs in. Operators run the service and are the staff of its admin."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="users")
    username = models.CharField(
        max_length=150,
        validators=[RegexValidator(USERNAME, "Use letters, digits and . @ + - _ only, at most 150.")],
    )
    first_name = models.CharField(max_length=150, blank=True)
    last_name = models.CharField(max_length=150, blank=True)
    email = models.EmailField()
    email_confirmed = models.DateTimeField("e-mail confirmed", null=True, blank=True, editable=False)
    # Whose limit of requests this account uses until its address is confirmed; accounts of a day are counted by it.
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
            models.UniqueConstraint("tenant", Lower("username"), name="user_name_unique_in_tenant"),
        ]
        indexes = [
            models.Index(Lower("username"), name="user_name_lower"),
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
        ordering = ["username"]

    def __str__(self) -> str:
        return self.username

    @property
    def is_staff(self) -> bool:
        return self.is_operator

    def get_session_auth_hash(self) -> str:
        """Turning the second step on or off ends all sessions but the one in which it was done."""
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
