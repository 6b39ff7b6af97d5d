"""The history and pictures of templates, and the uploads of catalogs and artwork."""

import pgtrigger
from django.conf import settings
from django.db import models
from django.utils import timezone
from pghistory.models import Context

from stores.catalog.models.store import Store

# `fulfillment_template_outline` is created by the migration of this model.
TEMPLATE_TRIGGER = pgtrigger.Trigger(
    name="template_change",
    when=pgtrigger.After,
    operation=pgtrigger.UpdateOf("template"),
    condition=pgtrigger.Condition("OLD.template IS DISTINCT FROM NEW.template"),
    func="""
        INSERT INTO stores_templatechange (product_id, version, "timestamp", context_id, before, after) VALUES (
            NEW.id, NEW.version, now(), _pgh_attach_context(),
            fulfillment_template_outline(OLD.template), fulfillment_template_outline(NEW.template)
        );
        RETURN NULL;
    """,
)
PICTURES_TRIGGER = pgtrigger.Trigger(
    name="template_pictures",
    when=pgtrigger.After,
    operation=pgtrigger.UpdateOf("template"),
    condition=pgtrigger.Condition("OLD.template IS DISTINCT FROM NEW.template"),
    func="""
        INSERT INTO stores_templatepicture (product_id, sha256, media_type, data, created)
        SELECT DISTINCT ON (gone.entry ->> 'Data') OLD.id,
            encode(sha256(convert_to(gone.entry ->> 'Data', 'UTF8')), 'hex'),
            left(gone.entry ->> 'MediaType', 40), gone.entry ->> 'Data', now()
        FROM (
            (SELECT jsonb_path_query(OLD.template, '$.Artwork.*') AS entry
                UNION SELECT jsonb_path_query(OLD.template, '$.Gallery.*'))
            EXCEPT
            (SELECT jsonb_path_query(NEW.template, '$.Artwork.*')
                UNION SELECT jsonb_path_query(NEW.template, '$.Gallery.*'))
        ) AS gone
        WHERE gone.entry ->> 'Data' IS NOT NULL AND gone.entry ->> 'MediaType' IS NOT NULL
        ON CONFLICT (product_id, sha256) DO UPDATE SET created = excluded.created;
        RETURN NULL;
    """,
)


class TemplateChange(models.Model):
    """A change of a product's template. A database trigger writes it, so that no change is missed.

    `before` and `after` are outlines: the template with the SHA-256 of each picture instead of the picture, and where
    pages are longer than 100,000 characters, with the number of their boxes instead of the boxes.
    """

    # No foreign key: the audit trail outlives the product.
    product = models.ForeignKey(
        "stores.Product", on_delete=models.DO_NOTHING, db_constraint=False, related_name="+", db_index=False
    )
    version = models.PositiveIntegerField()
    timestamp = models.DateTimeField()
    context = models.ForeignKey(
        Context,
        null=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="+",
        db_index=False,
    )
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)

    class Meta:
        indexes = [models.Index("product", "version", name="template_change_of_product")]

    def __str__(self) -> str:
        return f"Template changed to version {self.version}"


class TemplatePicture(models.Model):
    """A picture of an earlier template, kept by a trigger when it left, so that the version can be restored.

    `sha256` is of `data`, the picture as the template had it: what `TemplateChange` has in place of the picture.
    """

    product = models.ForeignKey(
        "stores.Product", on_delete=models.CASCADE, related_name="earlier_pictures", db_index=False
    )
    sha256 = models.CharField(max_length=64)
    media_type = models.CharField(max_length=40)
    data = models.TextField()
    created = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint("product", "sha256", name="template_picture_once")]

    def __str__(self) -> str:
        return f"{self.media_type} {self.sha256[:12]}"


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


class ArtworkUpload(models.Model):
    """A picture sent to the template editor: it waits here until the template that shows it is saved."""

    product = models.ForeignKey(
        "stores.Product", on_delete=models.CASCADE, related_name="artwork_uploads", db_index=False
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
