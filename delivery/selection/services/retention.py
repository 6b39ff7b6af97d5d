"""Retention of selections."""

from datetime import timedelta
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from delivery.selection.models import EddmSelection
from fulfillment.core.audit.retention import RetentionRule, rule_for_rows

# New counts are published each month, so older selections must be chosen again.
VALID_FOR = timedelta(days=90)
VALID_FOR_TESTS = timedelta(days=30)
# Expired selections stay readable for this time, so that they can be chosen again.
RETENTION = timedelta(days=90)


def retain_for_order(*, selection_id: UUID) -> None:
    """Keeps the selection as long as its order. Call it in the transaction of the order."""
    EddmSelection.objects.filter(pk=selection_id).update(is_ordered=True)


def retention_rules() -> list[RetentionRule]:
    return [rule_for_rows("expired EDDM selections", _expired)]


def _expired() -> QuerySet[EddmSelection]:
    return EddmSelection.objects.filter(expires__lt=timezone.now() - RETENTION, is_ordered=False)
