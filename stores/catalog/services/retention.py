from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from fulfillment.core.audit.retention import RetentionRule
from fulfillment.core.files.storage import storage_errors
from stores.catalog.models import CatalogUpload, StoreUsage
from stores.catalog.services.uploads import WAITING_STATES

USAGE_KEPT = timedelta(days=400)


def retention_rules() -> list[RetentionRule]:
    return [
        RetentionRule("files of old catalog imports", lambda: _old_uploads().count(), _remove_uploads),
        RetentionRule("calls by store", lambda: _old_usage().count(), _remove_usage),
    ]


def _old_usage() -> QuerySet[StoreUsage]:
    return StoreUsage.objects.filter(day__lt=(timezone.now() - USAGE_KEPT).date())


def _remove_usage(batch: int) -> Iterator[int]:
    """Deletes day by day; a day has at most one row for each store."""
    for day in _old_usage().order_by("day").values_list("day", flat=True).distinct():
        yield StoreUsage.objects.filter(day=day).delete()[0]


def _old_uploads() -> QuerySet[CatalogUpload]:
    before = timezone.now() - timedelta(days=settings.IMPORT_RETENTION_DAYS)
    old = CatalogUpload.objects.filter(updated__lt=before).exclude(upload="")
    return old.exclude(state__in=WAITING_STATES)


def _remove_uploads(batch: int) -> Iterator[int]:
    """Deletes the files; the records of the imports stay."""
    for key in list(_old_uploads().values_list("pk", flat=True)):
        yield _empty_upload(key)


@transaction.atomic
def _empty_upload(key: int) -> bool:
    upload = _old_uploads().select_for_update(skip_locked=True).filter(pk=key).first()
    if upload is None:
        return False
    with storage_errors():
        upload.upload.delete(save=False)
    upload.save(update_fields=["upload"])
    return True
