from datetime import timedelta

from django.contrib.sessions.models import Session
from django.utils import timezone

from accounts.models import EmailChange, IdempotentAnswer, RateWindow
from accounts.services.idempotency import KEPT
from fulfillment.core.audit.retention import Prunable, prunable_rows

# The longest counts for a day.
RATE_WINDOWS_KEPT = timedelta(hours=25)


def prunables() -> list[Prunable]:
    return [
        prunable_rows(
            "idempotent answers",
            lambda: IdempotentAnswer.objects.filter(created__lte=timezone.now() - KEPT),
        ),
        prunable_rows("e-mail changes", lambda: EmailChange.objects.filter(expires__lte=timezone.now())),
        prunable_rows(
            "rate windows",
            lambda: RateWindow.objects.filter(started__lte=timezone.now() - RATE_WINDOWS_KEPT),
        ),
        prunable_rows("sessions", lambda: Session.objects.filter(expire_date__lte=timezone.now())),
    ]
