from delivery.datasets.services import retention as datasets
from delivery.selection.services import selections
from fulfillment.core.audit.retention import RetentionRule


def retention_rules() -> list[RetentionRule]:
    return [*datasets.retention_rules(), *selections.retention_rules()]
