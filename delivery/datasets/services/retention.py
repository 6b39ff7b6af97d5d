"""Retention of import files: abandoned uploads and old problem lists."""

from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from delivery.datasets.models import ImportProblem, ImportRun, ImportState
from fulfillment.core.audit.retention import RetentionRule

UNFINISHED = (ImportState.WAITING, ImportState.RUNNING)


def retention_rules() -> list[RetentionRule]:
    return [RetentionRule("files of old imports", lambda: _old_runs().count(), _remove_files)]


def _old_runs() -> QuerySet[ImportRun]:
    before = timezone.now() - timedelta(days=settings.IMPORT_RETENTION_DAYS)
    with_files = ~Q(upload="") | ~Q(problem_file="") | Q(problems__isnull=False)
    return ImportRun.objects.filter(with_files, updated__lt=before).exclude(state__in=UNFINISHED).distinct()


def _remove_files(batch: int) -> Iterator[int]:
    for key in list(_old_runs().order_by("pk").values_list("pk", flat=True)):
        yield _empty(key)


@transaction.atomic
def _empty(key: int) -> bool:
    """Removes the files; the record with its counts stays as a report."""
    run = (
        ImportRun.objects.select_for_update(skip_locked=True)
        .filter(pk=key)
        .exclude(state__in=UNFINISHED)
        .first()
    )
    if run is None:
        return False
    for file in (run.upload, run.problem_file):
        if file:
            file.delete(save=False)
    ImportProblem.objects.filter(import_run=run).delete()
    run.save(update_fields=["upload", "problem_file"])
    return True
