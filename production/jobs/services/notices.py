"""Notifies store staff of failed jobs (`job.failed`)."""

from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.models import NotificationKind
from accounts.permissions import Grant
from accounts.selectors.staff import people_with
from accounts.services.notifications import notify
from production.jobs.models import Job

READERS = (Grant.ORDER_ALL_READ, Grant.ORDER_ALL_WRITE)


def failure_key(job_number: str) -> str:
    return f"job:{job_number}:failed"


def notify_of_failure(job: Job) -> int:
    """Notifies once for each failure, in its transaction."""
    return notify(
        user_ids=people_with(READERS, store_id=job.store_id),
        kind=NotificationKind.JOB_FAILED,
        key=failure_key(job.number),
        title=lambda: _("Print job %(number)s failed") % {"number": job.number},
        text=lambda: (
            _(
                "%(reason)s The order waits until the job is sent again, moved to another provider or cancelled."
            )
            % {"reason": f"{job.provider}: {job.message}" if job.provider else job.message}
        ),
        path=reverse("admin:production_job_change", args=[job.pk]),
    )
