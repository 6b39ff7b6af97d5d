"""Retention of invitations, call counts and call logs."""

from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from applications.registration.models import DailyUsage, LoggedRequest, OwnerInvitation
from fulfillment.core.audit.retention import RetentionRule, rule_for_rows

# An invitation contains an e-mail address.
INVITATION_RETENTION = timedelta(days=30)
USAGE_RETENTION = timedelta(days=400)


def retention_rules() -> list[RetentionRule]:
    return [
        rule_for_rows(
            "owner invitations",
            lambda: OwnerInvitation.objects.filter(expires__lte=timezone.now() - INVITATION_RETENTION),
        ),
        RetentionRule("usage counts", lambda: _old_usage().count(), _remove_usage),
        RetentionRule("logged requests", lambda: _old_requests().count(), _remove_requests),
    ]


def _old_usage() -> QuerySet[DailyUsage]:
    return DailyUsage.objects.filter(day__lt=(timezone.now() - USAGE_RETENTION).date())


def _remove_usage(batch: int) -> Iterator[int]:
    """Deletes day by day; a day has at most one row for each application."""
    for day in _old_usage().order_by("day").values_list("day", flat=True).distinct():
        yield DailyUsage.objects.filter(day=day).delete()[0]


def _old_requests() -> QuerySet[LoggedRequest]:
    return LoggedRequest.objects.filter(time__lt=timezone.now() - timedelta(days=settings.REQUEST_LOG_DAYS))


def _remove_requests(batch: int) -> Iterator[int]:
    """In the order in which they were written, so that no index of times is needed; a batch without an old one ends
    it. Processes write some seconds apart at most.
    """
    while True:
        oldest = LoggedRequest.objects.order_by("pk").values_list("pk", flat=True)[:batch]
        removed = _old_requests().filter(pk__in=list(oldest)).delete()[0]
        if not removed:
            return
        yield removed
