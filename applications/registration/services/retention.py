"""Retention of invitations, call counts and call logs."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from applications.registration.models import DailyUsage, LoggedRequest, OwnerInvitation
from fulfillment.core.audit.retention import RetentionRule, rule_for_log, rule_for_rows
from fulfillment.core.db.partitions import PartitionedLog

# An invitation contains an e-mail address.
INVITATION_RETENTION = timedelta(days=30)
USAGE_RETENTION = timedelta(days=400)
REQUESTS = PartitionedLog(
    {"applications_loggedrequest": "id"},
    ("applications_loggedrequest_id_seq",),
    time="time",
    lifetime=lambda: timedelta(days=settings.REQUEST_LOG_DAYS),
)


def retention_rules() -> list[RetentionRule]:
    return [
        rule_for_rows(
            "owner invitations",
            lambda: OwnerInvitation.objects.filter(expires__lte=timezone.now() - INVITATION_RETENTION),
        ),
        RetentionRule("usage counts", lambda: _old_usage().count(), _remove_usage),
        rule_for_log("logged requests", REQUESTS, _remove_requests),
    ]


def _old_usage() -> QuerySet[DailyUsage]:
    return DailyUsage.objects.filter(day__lt=(timezone.now() - USAGE_RETENTION).date())


def _remove_usage(batch: int) -> Iterator[int]:
    """Deletes day by day; a day has at most one row for each application."""
    for day in _old_usage().order_by("day").values_list("day", flat=True).distinct():
        yield DailyUsage.objects.filter(day=day).delete()[0]


def _remove_requests(batch: int, before: datetime) -> Iterator[int]:
    """In the order in which they were written, so that no index of times is needed; a batch without an old one ends
    it. Processes write some seconds apart at most.
    """
    while True:
        oldest = LoggedRequest.objects.order_by("pk").values_list("pk", flat=True)[:batch]
        removed = LoggedRequest.objects.filter(pk__in=list(oldest), time__lte=before).delete()[0]
        if not removed:
            return
        yield removed
