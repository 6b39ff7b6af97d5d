"""Offers what `fulfillment.operations` and the audit trail use of this app (docs/architecture.md)."""

from accounts.models import User
from applications.oauth import services as oauth
from applications.registration.models import ApplicationKey
from applications.registration.services import personal_data as registration
from applications.registration.services.applications import ensure_api_console, ensure_command_line
from applications.webhooks.models import WebhookSecret
from applications.webhooks.services import retention as webhooks
from applications.webhooks.services.events import renumber_events_after_restore
from fulfillment.core.audit.personal_data import ErasureOptions, PersonalData
from fulfillment.core.audit.retention import RetentionRule
from fulfillment.core.secrets import StoredSecret

ERASABLE = {
    "applications.ApplicationEvent": ("support_phone", "support_email"),
    "applications.OwnerInvitationEvent": ("email",),
}
STORED_SECRETS = (
    StoredSecret("application keys", ApplicationKey),
    StoredSecret("webhook secrets", WebhookSecret, digest=None),
)


def after_migrations() -> None:
    ensure_api_console()
    ensure_command_line()
    renumber_events_after_restore()


def personal_data() -> list[PersonalData]:
    return [*registration.personal_data(), *oauth.personal_data()]


def begin_erasure(user: User, options: ErasureOptions) -> None:
    oauth.hand_over_applications(user=user, disable=options.disable_applications)


def retention_rules() -> list[RetentionRule]:
    return [*oauth.retention_rules(), *webhooks.retention_rules(), *registration.retention_rules()]
