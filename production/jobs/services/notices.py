"""Notifies store staff of failed jobs (`job.failed`)."""

from django.urls import reverse

from accounts.models import NotificationKind, Role
from accounts.permissions import Grant
from accounts.services.notifications import notify
from production.jobs.models import Job


def failure_key(job_number: str) -> str:
    return f"job:{job_number}:failed"


def notify_of_failure(job: Job) -> int:
    """Notifies once for each failure, in its transaction."""
    people = Role.objects.filter(
        store=job.store_id,
        application__isnull=True,
        user__isnull=False,
        grant__in=(Grant.ORDER_ALL_READ, Grant.ORDER_ALL_WRITE),
    )
    return notify(
        user_ids=sorted(set(people.values_list("user_id", flat=True))),
        kind=NotificationKind.JOB_FAILED,
        key=failure_key(job.number),
        title=f"Print job {job.number} failed",
        text=f"{f'{job.provider}: ' if job.provider else ''}{job.message} The order waits until the job is sent "
        "again, moved to another provider or cancelled.",
        path=reverse("admin:production_job_change", args=[job.pk]),
    )
