"""What `fulfillment.operations` uses of this app (docs/architecture.md). Erased orders erase their own exchanges."""

from collections.abc import Iterator

from accounts.models import User
from fulfillment.core.api.serializers import timestamp
from fulfillment.core.audit.personal_data import PersonalData, Record
from fulfillment.core.db.distribution import Distribution
from fulfillment.core.db.sequences import skip_numbers
from fulfillment.core.secrets import StoredSecret
from production.gang_sheets.models import GangSheet, SheetState
from production.jobs.models import JobHistory
from production.jobs.services.retention import retention_rules
from production.providers.models import Provider

__all__ = ["retention_rules"]

DISTRIBUTION = Distribution(
    by_store="Attempt GangSheet Job JobHistory Scan",
    everywhere="Provider RoutingChoice RoutingRule",
    on_one="LedgerRow LedgerStem ProviderReport RoutingTally",
)
STORED_SECRETS = (
    StoredSecret("secrets of print providers", Provider, ciphertext="secrets_ciphertext", digest=None),
    StoredSecret(
        "report addresses of print providers",
        Provider,
        ciphertext="postback_ciphertext",
        digest="postback_digest",
    ),
)


def skip_used_numbers() -> Iterator[str]:
    """A provider may know a sheet that still collects, with other jobs on it: it takes no more."""
    number = skip_numbers("production_gangsheet_id_seq")
    if number is not None:
        GangSheet.objects.filter(state=SheetState.COLLECTING).update(state=SheetState.PLANNED)
        yield f"New gang sheets begin at number G{number}."


def personal_data() -> list[PersonalData]:
    return [PersonalData("print_job_history", _history)]


def _history(user: User) -> Iterator[Record]:
    entries = JobHistory.objects.filter(actor=user).select_related("job").order_by("pk")
    for entry in entries.iterator():
        yield {
            "JobNumber": entry.job.number,
            "State": entry.state,
            "Timestamp": timestamp(entry.timestamp),
            "Note": entry.note,
        }
