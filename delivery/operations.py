"""What `fulfillment.operations` and the audit trail use of this app (docs/architecture.md)."""

from delivery.datasets.services import retention as datasets
from delivery.selection.services import selections
from fulfillment.core.audit.personal_data import PersonalData
from fulfillment.core.audit.retention import RetentionRule

ERASABLE = {"delivery.DatasetEvent": ("created_by", "activated_by")}


def personal_data() -> list[PersonalData]:
    return [*datasets.personal_data(), *selections.personal_data()]


def retention_rules() -> list[RetentionRule]:
    return [*datasets.retention_rules(), *selections.retention_rules()]
