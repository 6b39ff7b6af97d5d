from django.conf import settings
from django.db import models
from django.utils import timezone

from stores.catalog.models.store import Store


class CatalogUploadState(models.TextChoices):
    WAITING = "waiting", "Waiting to be checked"
    CHECKING = "checking", "Being checked"
    REFUSED = "refused", "Has errors"
    CHECKED = "checked", "Checked"
    QUEUED = "queued", "Waiting to be imported"
    IMPORTING = "importing", "Being imported"
    IMPORTED = "imported", "Imported"
    FAILED = "failed", "Failed"


class CatalogUpload(models.Model):
    """A catalog file uploaded in the browser: checked first, imported when a user confirms."""

    state = models.CharField(
        max_length=10, choices=CatalogUploadState.choices, default=CatalogUploadState.WAITING
    )
    store = models.ForeignKey(
        Store,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="catalog_uploads",
        verbose_name="only store",
    )
    upload = models.FileField(upload_to="catalog/uploads", blank=True)
    file_name = models.CharField(max_length=255)
    size = models.PositiveBigIntegerField("bytes")
    percent = models.PositiveSmallIntegerField(default=0)
    # The counts and the first changes of the last check or of the import.
    summary = models.JSONField(default=dict)
    faults = models.JSONField(default=list)
    fault_count = models.PositiveIntegerField("errors", default=0)
    error = models.TextField(blank=True)
    created = models.DateTimeField("uploaded", default=timezone.now, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        verbose_name="uploaded by",
    )
    imported_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    # Updated while a worker processes the file.
    updated = models.DateTimeField(default=timezone.now, editable=False)
    finished = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "catalog import"
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.file_name} ({self.pk})"
