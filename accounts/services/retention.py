from datetime import timedelta

from django.contrib.sessions.models import Session
from django.utils import timezone

from accounts.models import EmailChange, IdempotentAnswer, Notification, RateWindow
from accounts.services.idempotency import KEPT
from accounts.services.notifications import KEPT as NOTIFICATIONS_KEPT
from fulfillment.core.audit.retention import RetentionRule, rule_for_rows

# The longest window is a day.
RATE_WINDOWS_KEPT = timedelta(hours=25)


def retention_rules() -> list[RetentionRule]:
    return [
        rule_for_rows(
            "idempotent answers",
            lambda: IdempotentAnswer.objects.filter(created__lte=timezone.now() - KEPT),
        ),
        rule_for_rows("e-mail changes", lambda: EmailChange.objects.filter(expires__lte=timezone.now())),
        rule_for_rows(
            "rate windows",
            lambda: RateWindow.objects.filter(started__lte=timezone.now() - RATE_WINDOWS_KEPT),
        ),
        rule_for_rows(
            "notifications",
            lambda: Notification.objects.filter(created__lte=timezone.now() - NOTIFICATIONS_KEPT),
        ),
        rule_for_rows("sessions", lambda: Session.objects.filter(expire_date__lte=timezone.now())),
    ]
