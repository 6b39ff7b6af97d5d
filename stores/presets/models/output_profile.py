import pghistory
from django.db import models
from django.utils import timezone


@pghistory.track(exclude=["content"])
class OutputProfile(models.Model):
    """The ICC profile of an output condition (paper, inks and press). It is replaced, never changed."""

    description = models.CharField(max_length=200, editable=False)
    file_name = models.CharField(max_length=200, editable=False)
    sha256 = models.CharField(max_length=64, unique=True, editable=False)
    size = models.PositiveIntegerField(editable=False)
    content = models.BinaryField(editable=False)
    created = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["description", "pk"]

    def __str__(self) -> str:
        return self.description
