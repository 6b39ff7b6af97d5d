import pghistory
from django.db import models
from django.utils import timezone


@pghistory.track(exclude=["content"])
class OfficialForm(models.Model):
    """The Postal Service's PDF of PS Form 3587, as an operator uploaded it; the newest one is filled.

    `mapping` has the name of a field for each value that the papers know, as delivery.papers.official_form says.
    """

    file_name = models.CharField(max_length=200)
    sha256 = models.CharField("SHA-256", max_length=64)
    content = models.BinaryField()
    field_names = models.JSONField(default=list)
    mapping = models.JSONField(default=dict, blank=True)
    created = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name = "PS Form 3587"
        verbose_name_plural = "PS Form 3587"
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.file_name
