from django.db import models
from django.utils import timezone

from applications.registration.models.application import Application


class Milestone(models.Model):
    """A first step of an application that no other record shows."""

    pk = models.CompositePrimaryKey("application_id", "name")
    application = models.ForeignKey(
        Application, on_delete=models.CASCADE, related_name="milestones", db_index=False
    )
    name = models.CharField(max_length=20)
    reached = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return f"{self.name} of {self.application_id}"
