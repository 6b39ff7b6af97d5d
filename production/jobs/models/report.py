from django.db import models

from production.jobs.models.job import Job, JobState
from production.providers.models import Provider


class ReportOutcome(models.TextChoices):
    APPLIED = "Applied"
    LATE = "Late", "Late: more is known"
    CONTRADICTION = "Contradiction"
    UNKNOWN_JOB = "Unknown", "Unknown job"


class ProviderReport(models.Model):
    """A provider's report on a job, even without effect; `repeats` counts repetitions."""

    provider = models.ForeignKey(Provider, on_delete=models.PROTECT, related_name="reports", db_index=False)
    identifier = models.CharField(max_length=200)
    job = models.ForeignKey(Job, null=True, on_delete=models.CASCADE, related_name="reports", db_index=False)
    job_number = models.CharField(max_length=100)
    state = models.CharField(max_length=20)
    at = models.DateTimeField(null=True)
    received = models.DateTimeField()
    outcome = models.CharField(max_length=13, choices=ReportOutcome.choices)
    explanation = models.CharField(max_length=1000, blank=True)
    carrier = models.CharField(max_length=60, blank=True)
    tracking_number = models.CharField(max_length=100, blank=True)
    tracking_url = models.CharField(max_length=1000, blank=True)
    message = models.CharField(max_length=1000, blank=True)
    raw = models.TextField(blank=True)
    repeats = models.PositiveIntegerField(default=0)
    is_seen = models.BooleanField("looked at", default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint("provider", "identifier", name="provider_report_once"),
        ]
        indexes = [
            models.Index("job", "id", name="provider_report_of_job"),
            models.Index("received", name="provider_report_by_time"),
            models.Index(
                "id",
                condition=models.Q(outcome__in=("Contradiction", "Unknown"), is_seen=False),
                name="provider_report_open",
            ),
        ]
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.state} of {self.job_number}"

    @property
    def shown_state(self) -> str:
        """The label of the state, if it is a state of jobs."""
        return dict(JobState.choices).get(self.state, self.state)
