from fulfillment.core.audit.retention import RetentionRule
from production.jobs.services import retention


def retention_rules() -> list[RetentionRule]:
    return retention.retention_rules()
