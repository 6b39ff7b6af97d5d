from fulfillment.core.audit.retention import RetentionRule
from stores.batches.services import personal_data as batches
from stores.catalog.services import uploads as catalog
from stores.editor.services import drafts as editor
from stores.orders.services import recipients
from stores.orders.services import retention as orders
from stores.proofs.services import retention as proofs


def retention_rules() -> list[RetentionRule]:
    return [
        *recipients.retention_rules(),
        *proofs.retention_rules(),
        *editor.retention_rules(),
        *catalog.retention_rules(),
        *orders.retention_rules(),
        *orders.rules_for_old_tests(),
        *batches.retention_rules(),
    ]
