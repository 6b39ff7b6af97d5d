from django.db import models
from django.utils import timezone

from delivery.datasets.models.dataset import Dataset


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
