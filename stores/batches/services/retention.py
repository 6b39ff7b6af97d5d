"""Removes batches that were not ordered in time, with their rows; ordered ones go with their orders."""

from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from fulfillment.core.audit.retention import RetentionRule, rule_for_rows
from stores.batches.models import Batch, BatchRow, BatchStatus

UNORDERED = timedelta(days=30)
DONE = (BatchStatus.ORDERED, BatchStatus.ORDERING)


def retention_rules() -> list[RetentionRule]:
    return [
        rule_for_rows("batches that were not ordered", _unordered),
        rule_for_rows("rows of batches that were not ordered", _left_rows),
        rule_for_rows("batches without rows", _empty),
    ]


def _old(**filters: object) -> QuerySet[Batch]:
    return Batch.objects.filter(updated__lt=timezone.now() - UNORDERED, **filters)


def _unordered() -> QuerySet[Batch]:
    """Cancelled ones only where nothing of them was ordered before."""
    return _old().exclude(status__in=DONE).exclude(rows__order__isnull=False)


def _left_rows() -> QuerySet[BatchRow]:
    """Rows that were in error or failed, of batches that were ordered otherwise; and of orders that are gone."""
    return BatchRow.objects.filter(order=None, batch__in=_old().exclude(status=BatchStatus.ORDERING))


def _empty() -> QuerySet[Batch]:
    return _old(status=BatchStatus.ORDERED, rows=None)
