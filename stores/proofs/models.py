"""Pictures that people uploaded, and proofs."""

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone

from stores.catalog.models.product import Product
from stores.catalog.models.store import Store


class AssetFormat(models.TextChoices):
    PNG = "png", "PNG"
    JPEG = "jpg", "JPEG"
    PDF = "pdf", "PDF"


class PlatesFormat(models.TextChoices):
    """The format of plates: of pictures uploaded in CMYK, or in gray with a profile."""

    JPEG = "plates.jpg", "JPEG"
    PNG = "plates.png", "PNG"


class Asset(models.Model):
    """A picture for the image fields of a store's products, re-encoded from an upload, or a print-ready PDF.

    The file of a PDF is stored once for all uploads of it, by the SHA-256 of what was sent; `pages` are its pages as
    `printing.press.artwork.ArtworkPage`, and width and height are 0.

    Only the application that uploaded it may use it; an upload through the service itself, only its user.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    store = models.ForeignKey(Store, on_delete=models.CASCADE, related_name="assets")
    application = models.ForeignKey(
        settings.OAUTH2_PROVIDER_APPLICATION_MODEL, null=True, on_delete=models.CASCADE, related_name="assets"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="assets"
    )
    is_test = models.BooleanField(default=False, db_default=False, editable=False)
    format = models.CharField(max_length=3, choices=AssetFormat.choices)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveIntegerField()
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    # The form of a second file, with the plates as they were sent; empty where the picture itself has the same.
    plates = models.CharField(
        max_length=10, choices=PlatesFormat.choices, blank=True, default="", db_default="", editable=False
    )
    pages = models.JSONField(null=True, editable=False)
    created = models.DateTimeField(default=timezone.now, editable=False)
    last_used = models.DateTimeField(default=timezone.now, db_default=Now(), editable=False)
    # A printed picture is stored for reprints until the last of its orders is erased.
    is_ordered = models.BooleanField(default=False, db_default=False, editable=False)

    class Meta:
        ordering = ["-created"]
        indexes = [
            models.Index("last_used", condition=models.Q(is_ordered=False), name="asset_not_ordered_by_use"),
            models.Index("last_used", condition=models.Q(is_test=True), name="asset_of_test_by_use"),
            # For the storage that a caller uses, and the uploads that share a file.
            models.Index("application", "user", condition=models.Q(format="pdf"), name="asset_pdf_of_caller"),
            models.Index("sha256", condition=models.Q(format="pdf"), name="asset_pdf_by_content"),
        ]

    def __str__(self) -> str:
        return str(self.pk)

    @property
    def printed_key(self) -> str:
        """Equal only for pictures that print alike: of those with plates, different inks may look alike on screens."""
        return f"{self.sha256} {self.pk}" if self.plates else self.sha256

    @property
    def is_document(self) -> bool:
        return self.format == AssetFormat.PDF


class Proof(models.Model):
    """A stored rendering. Its row is written after its files and deleted before them.

    `digest` names everything the rendering was made from; `sizes` are the bytes of the PDF and of each page. Test
    applications share no proof with others. By `traces` it is found when a person is to be forgotten
    (stores.proofs.services.merging).
    """

    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="proofs")
    digest = models.CharField(max_length=40, unique=True)
    is_test = models.BooleanField(default=False, db_default=False, editable=False)
    sizes = ArrayField(models.PositiveIntegerField())
    messages = models.JSONField(default=list)
    # The findings of preflight as the API shows them; NULL if there are none.
    preflight = models.JSONField(null=True, editable=False)
    traces = ArrayField(models.CharField(max_length=24), null=True, editable=False)
    created = models.DateTimeField(default=timezone.now, editable=False)
    last_used = models.DateTimeField(default=timezone.now, editable=False, db_index=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(digest__regex=r"^[0-9a-f]{40}\Z"), name="proof_digest_form"
            )
        ]
        indexes = [models.Index("last_used", condition=models.Q(is_test=True), name="proof_of_test_by_use")]
        ordering = ["-created"]

    def __str__(self) -> str:
        return self.digest

    @property
    def page_count(self) -> int:
        return len(self.sizes) - 1
