import pghistory
from django.db import models

from applications.registration.models.application import Application


@pghistory.track(exclude=["image", "central_image"])
class ApplicationIcon(models.Model):
    """PNG files re-encoded from the upload: 215 x 215 pixels and the central 94 x 94 of it."""

    application = models.OneToOneField(Application, on_delete=models.CASCADE, related_name="icon")
    image = models.BinaryField()
    central_image = models.BinaryField()
    sha256 = models.CharField(max_length=64, db_index=True)
    reaches_outside_centre = models.BooleanField()
    updated = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"Icon of {self.application}"
