from applications.oauth.services import authorizations
from applications.registration.services import retention as registration
from applications.webhooks.services import retention as webhooks
from fulfillment.core.audit.retention import RetentionRule


def retention_rules() -> list[RetentionRule]:
    return [*authorizations.retention_rules(), *webhooks.retention_rules(), *registration.retention_rules()]
