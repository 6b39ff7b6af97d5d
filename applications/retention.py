from applications.oauth import services
from applications.registration.services import personal_data as registration
from applications.webhooks.services import retention as webhooks
from fulfillment.core.audit.retention import RetentionRule


def retention_rules() -> list[RetentionRule]:
    return [*services.retention_rules(), *webhooks.retention_rules(), *registration.retention_rules()]
