from datetime import timedelta

from django.contrib.sessions.models import Session
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from accounts.models import (
    AssociationRequest,
    EmailChange,
    IdempotentResponse,
    Notification,
    RateWindow,
    RequestLease,
)
from accounts.services.idempotency import RETENTION
from accounts.services.notifications import RETENTION as NOTIFICATION_RETENTION
from fulfillment.core.audit.retention import RetentionRule, rule_for_rows

# The longest window is a day.
RATE_WINDOW_RETENTION = timedelta(hours=25)


def retention_rules() -> list[RetentionRule]:
    return [
        rule_for_rows(
            "idempotent responses",
            lambda: IdempotentResponse.objects.filter(created__lte=timezone.now() - RETENTION),
        ),
        rule_for_rows("request leases", lambda: RequestLease.objects.filter(until__lte=timezone.now())),
        rule_for_rows("e-mail changes", lambda: EmailChange.objects.filter(expires__lte=timezone.now())),
        rule_for_rows(
            "rate windows",
            lambda: RateWindow.objects.filter(started__lte=timezone.now() - RATE_WINDOW_RETENTION),
        ),
        rule_for_rows(
            "notifications",
            lambda: Notification.objects.filter(created__lte=timezone.now() - NOTIFICATION_RETENTION),
        ),
        # Notifications name them, which are removed after the same time.
        rule_for_rows("decided association requests", _superseded_requests),
        rule_for_rows("sessions", lambda: Session.objects.filter(expire_date__lte=timezone.now())),
    ]


def _superseded_requests() -> QuerySet[AssociationRequest]:
    """The last decision between an application and a store or user stays: a repeated request finds it."""
    same = Q(store=OuterRef("store")) | Q(user=OuterRef("user"))
    later = AssociationRequest.objects.filter(
        same, application=OuterRef("application"), decided__gt=OuterRef("decided")
    )
    return AssociationRequest.objects.filter(
        Exists(later), decided__lte=timezone.now() - NOTIFICATION_RETENTION
    )
