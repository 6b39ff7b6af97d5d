from django.conf import settings
from django.db import models

from production.jobs.models.job import Job, JobState
from stores.orders.models import ActorKind


class JobHistory(models.Model):
    """A change of a job: of its state, its provider, or by a person."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="history", db_index=False)
    previous_state = models.CharField(max_length=12, blank=True)
    state = models.CharField(max_length=12, choices=JobState.choices)
    timestamp = models.DateTimeField()
    actor_kind = models.CharField(max_length=11, choices=ActorKind.choices)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    note = models.CharField(max_length=1000, blank=True)

    class Meta:
        indexes = [
            models.Index("job", "id", name="job_history_of_job"),
            models.Index("actor", condition=models.Q(actor__isnull=False), name="job_history_of_actor"),
        ]
        ordering = ["job", "id"]
        verbose_name_plural = "job history"

    def __str__(self) -> str:
        return f"{self.job_id}: {self.state}"
