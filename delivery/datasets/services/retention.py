"""Retention of import files, and the personal data of imports: the user name of the operator.

User names are unique only within a tenant, and only operators import, so other users of that name are not affected.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pgtrigger
from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from delivery.datasets.models import Dataset, ImportProblem, ImportRun, ImportState
from delivery.datasets.services.locking import INTERRUPTED
from fulfillment.core.audit.events import event_model
from fulfillment.core.audit.personal_data import ERASED, PersonalData
from fulfillment.core.audit.retention import RetentionRule
from fulfillment.core.text import JsonObject, timestamp

UNFINISHED = (ImportState.WAITING, ImportState.RUNNING)


def retention_rules() -> list[RetentionRule]:
    return [RetentionRule("files of old imports", lambda: _old_runs().count(), _remove_files)]


def _old_runs() -> QuerySet[ImportRun]:
    before = timezone.now() - timedelta(days=settings.IMPORT_RETENTION_DAYS)
    with_files = ~Q(upload="") | ~Q(problem_file="") | Q(problems__isnull=False)
    return ImportRun.objects.filter(with_files, updated__lt=before).exclude(state__in=UNFINISHED).distinct()


def _remove_files(batch: int) -> Iterator[int]:
    for key in list(_old_runs().order_by("pk").values_list("pk", flat=True)):
        yield _empty_upload(key)


@transaction.atomic
def _empty_upload(key: int) -> bool:
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
    if run.state == ImportState.UPLOADED:
        run.state, run.error = ImportState.FAILED, INTERRUPTED
    run.save(update_fields=["upload", "problem_file", "state", "error"])
    return True


def personal_data() -> list[PersonalData]:
    return [PersonalData("imports", _imports_of, _erase_person), PersonalData("datasets", _datasets_of)]


def _imports_of(user: Any) -> list[JsonObject]:
    runs = ImportRun.objects.filter(created_by__in=_names_of(user)).order_by("pk")
    return [{"FileName": run.file_name, "Created": timestamp(run.created)} for run in runs]


def _datasets_of(user: Any) -> list[JsonObject]:
    names = _names_of(user)
    datasets = Dataset.objects.filter(Q(created_by__in=names) | Q(activated_by__in=names))
    return [
        {"FileName": dataset.file_name, "Created": timestamp(dataset.created)}
        for dataset in datasets.order_by("pk")
    ]


def _erase_person(user: Any) -> None:
    names = _names_of(user)
    ImportRun.objects.filter(created_by__in=names).update(created_by=ERASED)
    events = event_model(Dataset)
    for column in ("created_by", "activated_by"):
        Dataset.objects.filter(**{f"{column}__in": names}).update(**{column: ERASED})
        with pgtrigger.ignore("delivery.DatasetEvent:append_only"):
            events.objects.filter(**{f"{column}__in": names}).update(**{column: ERASED})


def _names_of(user: Any) -> list[str]:
    """The user names the person had as an operator."""
    events = user.pgh_event_model.objects.filter(pgh_obj_id=user.pk, is_operator=True)
    names = {*events.values_list("username", flat=True), *([user.username] if user.is_operator else ())}
    return sorted(names - {ERASED})
