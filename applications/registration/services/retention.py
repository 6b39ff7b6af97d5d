"""Old invitations and old counts of calls."""

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from applications.registration.models import DailyUsage, OwnerInvitation
from fulfillment.core.audit.retention import RetentionRule, rule_for_rows

# An invitation holds a person's address.
INVITATIONS_KEPT = timedelta(days=30)
USAGE_KEPT = timedelta(days=400)


def retention_rules() -> list[RetentionRule]:
    return [
        rule_for_rows(
            "owner invitations",
            lambda: OwnerInvitation.objects.filter(expires__lte=timezone.now() - INVITATIONS_KEPT),
        ),
        RetentionRule("usage counts", lambda: _old_usage().count(), _remove_usage),
    ]


def _old_usage() -> QuerySet[DailyUsage]:
    return DailyUsage.objects.filter(day__lt=(timezone.now() - USAGE_KEPT).date())


def _remove_usage(batch: int) -> Iterator[int]:
    """Day by day, of which each has a row for an application at most."""
    for day in _old_usage().order_by("day").values_list("day", flat=True).distinct():
        yield DailyUsage.objects.filter(day=day).delete()[0]
