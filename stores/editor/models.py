from django.conf import settings
from django.db import models
from django.utils import timezone

from stores.catalog.models.product import Product


class ArtworkUpload(models.Model):
    """A picture sent to the template editor: it waits here until the template that shows it is saved."""

    product = models.ForeignKey(
        Product, on_delete=models.CASCADE, related_name="artwork_uploads", db_index=False
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    name = models.CharField(max_length=100)
    media_type = models.CharField(max_length=40)
    sha256 = models.CharField(max_length=64)
    content = models.BinaryField()
    created = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint("product", "sha256", name="artwork_upload_once")]
        ordering = ["-created"]

    def __str__(self) -> str:
        return self.name
