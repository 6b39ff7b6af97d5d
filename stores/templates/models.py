import pghistory
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone


@pghistory.track()
class Font(models.Model):
    """A font file that an operator added to the shipped ones. It is replaced, never changed."""

    families = ArrayField(models.CharField(max_length=200), editable=False)
    suffix = models.CharField(max_length=4, editable=False)
    file_name = models.CharField(max_length=200, editable=False)
    sha256 = models.CharField(max_length=64, unique=True, editable=False)
    size = models.PositiveIntegerField(editable=False)
    created = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{', '.join(self.families)} ({self.file_name})"
