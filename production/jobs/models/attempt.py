from django.db import models

from production.jobs.models.job import Job
from production.providers.models import Provider


class AttemptKind(models.TextChoices):
    SUBMIT = "Submit"
    CANCEL = "Cancel"


class AttemptOutcome(models.TextChoices):
    UNFINISHED = "", "Under way"
    SENT = "Sent"
    CANCELLED = "Cancelled"
    REFUSED = "Refused"
    UNAVAILABLE = "Unavailable", "Could not be reached"
    FAILED = "Failed"
    INTERRUPTED = "Interrupted"


class Attempt(models.Model):
    """An exchange with a provider: written before the request, completed with the response."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="attempts", db_index=False)
    number = models.CharField("job number", max_length=40)
    provider = models.ForeignKey(Provider, on_delete=models.PROTECT, related_name="+", db_index=False)
    kind = models.CharField(max_length=6, choices=AttemptKind.choices)
    outcome = models.CharField(max_length=11, choices=AttemptOutcome.choices, blank=True, default="")
    message = models.CharField(max_length=1000, blank=True)
    request = models.TextField(blank=True)
    answer = models.TextField(blank=True)
    digests = models.JSONField(default=dict)
    started = models.DateTimeField()
    finished = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index("job", "id", name="job_attempt_of_job"),
            models.Index("number", name="job_attempt_by_number"),
            models.Index("started", name="job_attempt_by_start"),
        ]
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.kind} of {self.number}"
