"""Runs failed background jobs again."""

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateJob


@transaction.atomic
def run_failed_jobs_again(*, jobs: QuerySet[ProcrastinateJob]) -> int:
    """Queues those that failed; returns how many. A job of which only one may wait stays, if one waits already."""
    count = 0
    for job in jobs.filter(status="failed").order_by("id"):
        same = ProcrastinateJob.objects.filter(status="todo", queueing_lock=job.queueing_lock)
        if job.queueing_lock is None or not same.exists():
            app.job_manager.retry_job_by_id(job_id=job.pk, retry_at=timezone.now())
            count += 1
    return count
