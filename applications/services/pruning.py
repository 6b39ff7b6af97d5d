"""What applications leave behind: events with their deliveries, deleted webhooks, old invitations and counts."""

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from applications.models import DailyUsage, Delivery, Event, OwnerInvitation, Webhook, WebhookSecret
from applications.selectors.events import KEPT as EVENTS_KEPT
from applications.services.authorizations import prunables as authorizations
from fulfillment.pruning import Prunable, prunable_rows

# An invitation names somebody's address.
INVITATIONS_KEPT = timedelta(days=30)
USAGE_KEPT = timedelta(days=400)


def prunables() -> list[Prunable]:
    return [
        *authorizations(),
        prunable_rows("events", lambda: Event.objects.filter(timestamp__lte=timezone.now() - EVENTS_KEPT)),
        prunable_rows(
            "deliveries of deleted webhooks", lambda: Delivery.objects.filter(webhook__deleted__isnull=False)
        ),
        prunable_rows(
            "deleted webhooks", lambda: Webhook.objects.filter(deleted__isnull=False, deliveries__isnull=True)
        ),
        prunable_rows("webhook secrets", lambda: WebhookSecret.objects.filter(expires__lte=timezone.now())),
        prunable_rows(
            "owner invitations",
            lambda: OwnerInvitation.objects.filter(expires__lte=timezone.now() - INVITATIONS_KEPT),
        ),
        Prunable("usage counts", lambda: _old_usage().count(), _remove_usage),
    ]


def _old_usage() -> QuerySet[DailyUsage]:
    return DailyUsage.objects.filter(day__lt=(timezone.now() - USAGE_KEPT).date())


def _remove_usage(batch: int) -> Iterator[int]:
    """Day by day, of which each has a row for an application at most."""
    for day in _old_usage().order_by("day").values_list("day", flat=True).distinct():
        yield DailyUsage.objects.filter(day=day).delete()[0]
