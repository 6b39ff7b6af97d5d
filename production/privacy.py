"""Personal data of this app; erased orders erase their exchanges (`order_status`)."""

from collections.abc import Iterator

from accounts.models import User
from fulfillment.core.api.serializers import timestamp
from fulfillment.core.audit.personal_data import PersonalData, Record
from production.jobs.models import JobHistory


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
