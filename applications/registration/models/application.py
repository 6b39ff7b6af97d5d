import uuid
from typing import Any

import pghistory
import pgtrigger
from django.conf import settings
from django.core.validators import RegexValidator, URLValidator
from django.db import models
from oauth2_provider.models import AbstractApplication, ApplicationManager

from fulfillment.core.text_validation import VisibleText

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
    support_url = models.CharField(blank=True, max_length=2000, validators=[validate_web_address])
    support_phone = models.CharField(blank=True, max_length=50)
    support_email = models.EmailField(blank=True)
    implicit_flow_allowed = models.BooleanField(default=False)
    is_first_party = models.BooleanField(
        "first-party",
        default=False,
        help_text="Part of this service: the user alone is judged, not an association of the application.",
    )

    is_test = models.BooleanField(
        "test application",
        default=False,
        db_default=False,
        editable=False,
        help_text="Everything made with its credentials is test data. Chosen at registration, for ever.",
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
        allowed = {self.GRANT_AUTHORIZATION_CODE}
        if self.client_type == self.CLIENT_CONFIDENTIAL:
            allowed.add(self.GRANT_CLIENT_CREDENTIALS)
        if self.implicit_flow_allowed and settings.IMPLICIT_FLOW_ENABLED:
            allowed.add(self.GRANT_IMPLICIT)
        return not allowed.isdisjoint(grant_types)

    def is_usable(self, request: Any) -> bool:
        return self.is_enabled

    def clean(self) -> None:
        """Nothing: the services hold the rules. The library's refuse an application without reply URLs, on a field of
        its own that no form of ours has."""

    def get_absolute_url(self) -> str:
        return f"/applications/{self.pk}"


validate_external_id = RegexValidator(EXTERNAL_ID, "Use 1 to 64 letters, digits and . _ ~ - only.")
