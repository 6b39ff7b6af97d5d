"""Data sets of carrier routes with their counts and shapes, and the imports of them."""

from datetime import date

import pghistory
from django.contrib.postgres.indexes import GistIndex
from django.db import models
from django.utils import timezone

OLD_AFTER_MONTHS = 6


class DatasetStatus(models.TextChoices):
    READY = "ready", "Ready"
    ACTIVE = "active", "Active"
    RETIRED = "retired", "Retired"
    DISCARDED = "discarded", "Discarded"


@pghistory.track()
class Dataset(models.Model):
    """One version of the delivery populations. A discarded one keeps this record, but no populations."""

    status = models.CharField(max_length=10, choices=DatasetStatus.choices, default=DatasetStatus.READY)
    vintage = models.DateField(help_text="The first day of the month the counts are of.")
    is_synthetic = models.BooleanField(
        "synthetic", default=False, help_text="Invented counts, for trying out."
    )
    is_merged = models.BooleanField(
        "merged", default=False, help_text="Some ZIP codes come from an older data set."
    )
    source_format = models.CharField(max_length=10)
    file_name = models.CharField(max_length=255)
    sha256 = models.CharField("SHA-256", max_length=64)
    route_types = models.CharField(max_length=4, help_text="The route types the API counts.")
    postal_code_count = models.PositiveIntegerField("ZIP codes")
    # Per route type [routes, residential, business], of all types and not only those the API counts.
    totals_by_type = models.JSONField(default=dict)
    route_count = models.PositiveIntegerField("routes", help_text="Of the types the API counts.")
    residential = models.PositiveBigIntegerField()
    business = models.PositiveBigIntegerField()
    shape_count = models.PositiveIntegerField(
        "routes on the map", default=0, db_default=0, help_text="Routes whose geometry is known."
    )
    concerns = models.JSONField(default=list, blank=True, help_text="Why it was not activated by itself.")
    created = models.DateTimeField(default=timezone.now, editable=False)
    created_by = models.CharField(max_length=320, blank=True)
    activated = models.DateTimeField(null=True, blank=True)
    activated_by = models.CharField(max_length=320, blank=True)

    class Meta:
        verbose_name = "EDDM data set"
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                "status", condition=models.Q(status=DatasetStatus.ACTIVE), name="dataset_one_active"
            ),
            models.CheckConstraint(condition=models.Q(vintage__day=1), name="dataset_vintage_is_a_month"),
        ]

    def __str__(self) -> str:
        return f"{self.vintage_label} (no. {self.pk})"

    @property
    def total(self) -> int:
        return self.residential + self.business

    @property
    def has_geometry(self) -> bool:
        return self.shape_count > 0

    @property
    def vintage_label(self) -> str:
        return f"{self.vintage:%Y-%m}" + (" synthetic" if self.is_synthetic else "")

    @property
    def age_in_months(self) -> int:
        today = timezone.now().date()
        return (today.year - self.vintage.year) * 12 + today.month - self.vintage.month

    @property
    def is_old(self) -> bool:
        return self.age_in_months > OLD_AFTER_MONTHS


class LiveDataset(models.Model):
    """A single row: the data set that the API answers from."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    dataset = models.ForeignKey(Dataset, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="live_dataset_one_row")]

    def __str__(self) -> str:
        return str(self.dataset or "none")


class Population(models.Model):
    """One postal code of one data set: its finished API body, and all routes it was made from.

    `routes` reads "C001 600 40,B001 80 0" (route, residential, business), of all route types.
    """

    pk = models.CompositePrimaryKey("dataset_id", "postal_code")
    # Without a constraint: 42,000 rows are copied in at once, and only services write here.
    dataset = models.ForeignKey(
        Dataset, on_delete=models.CASCADE, related_name="populations", db_constraint=False, db_index=False
    )
    postal_code = models.CharField(max_length=5)
    residential = models.PositiveIntegerField()
    business = models.PositiveIntegerField()
    routes = models.TextField()
    body = models.TextField()

    def __str__(self) -> str:
        return self.postal_code


class BoxField(models.Field):
    """PostgreSQL's own `box`; (east,north),(west,south) as text."""

    def db_type(self, connection: object) -> str:
        return "box"


class Area(models.Model):
    """The routes of a postal code without their counts: geometry, demographics and post office.

    `shapes` and `facts` are in the order of `Population.routes`; delivery.datasets.shapes and details read them.
    A data set of counts alone has none of these rows.
    """

    pk = models.CompositePrimaryKey("dataset_id", "postal_code")
    # Without a constraint, as of populations.
    dataset = models.ForeignKey(
        Dataset, on_delete=models.CASCADE, related_name="areas", db_constraint=False, db_index=False
    )
    postal_code = models.CharField(max_length=5)
    # The box around all shapes in steps of the grid; empty without shapes.
    box = BoxField(null=True)
    shapes = models.BinaryField(null=True)
    shape_count = models.PositiveSmallIntegerField()
    facts = models.TextField()

    class Meta:
        indexes = [GistIndex(fields=["box"], name="area_box")]

    def __str__(self) -> str:
        return self.postal_code


def month_of(day: date) -> date:
    return day.replace(day=1)


class ImportState(models.TextChoices):
    UPLOADED = "uploaded", "Uploaded"
    WAITING = "waiting", "Waiting to start"
    RUNNING = "running", "Running"
    LOADED = "loaded", "Loaded"
    FAILED = "failed", "Failed"


class ImportRun(models.Model):
    """An import of a file, with its report."""

    state = models.CharField(max_length=10, choices=ImportState.choices, default=ImportState.UPLOADED)
    upload = models.FileField(upload_to="eddm/uploads", blank=True)
    file_name = models.CharField(max_length=255)
    options = models.JSONField(default=dict)
    dataset = models.OneToOneField(
        Dataset, null=True, blank=True, on_delete=models.SET_NULL, related_name="import_run"
    )
    phase = models.CharField(max_length=40, blank=True)
    percent = models.PositiveSmallIntegerField(default=0)
    row_count = models.PositiveIntegerField("lines read", default=0)
    reject_count = models.PositiveIntegerField("lines rejected", default=0)
    warning_count = models.PositiveIntegerField("warnings", default=0)
    problem_counts = models.JSONField(default=dict)
    notes = models.JSONField(default=list)
    problem_file = models.FileField(upload_to="eddm/problems", blank=True)
    error = models.TextField(blank=True)
    created = models.DateTimeField(default=timezone.now, editable=False)
    created_by = models.CharField(max_length=320, blank=True)
    # Updated while the import runs.
    updated = models.DateTimeField(default=timezone.now, editable=False)
    finished = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "EDDM import"
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"Import {self.pk} of {self.file_name}"


class ImportProblem(models.Model):
    """One of the first problems of an import; all of them are in its problem file."""

    import_run = models.ForeignKey(ImportRun, on_delete=models.CASCADE, related_name="problems")
    line = models.PositiveBigIntegerField()
    column = models.CharField(max_length=80, blank=True)
    value = models.CharField(max_length=80, blank=True)
    code = models.CharField(max_length=12)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"line {self.line}: {self.code}"
