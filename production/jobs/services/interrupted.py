"""Exchanges of a killed worker, whose requests the provider may have received."""

from django.utils import timezone

from production.jobs.models import Attempt, AttemptKind, AttemptOutcome, Job


def close_interrupted(job: Job) -> bool:
    """On a locked job, without saving it; whether a submission was among them."""
    was_sending = False
    for attempt in Attempt.objects.filter(job=job, outcome=AttemptOutcome.UNFINISHED):
        attempt.outcome, attempt.finished = AttemptOutcome.INTERRUPTED, timezone.now()
        attempt.message = "The worker ended before the response was recorded."
        attempt.save(update_fields=["outcome", "message", "finished"])
        was_sending = was_sending or attempt.kind == AttemptKind.SUBMIT
    job.is_uncertain = job.is_uncertain or was_sending
    return was_sending
