from datetime import timedelta

from django.contrib.sessions.models import Session
from django.utils import timezone

from accounts.models import EmailChange, IdempotentAnswer, RateWindow
from accounts.rates import WINDOW
from accounts.services.idempotency import KEPT
from fulfillment.pruning import Prunable, prunable_rows


def prunables() -> list[Prunable]:
    return [
        prunable_rows(
            "idempotent answers",
            lambda: IdempotentAnswer.objects.filter(created__lte=timezone.now() - KEPT),
        ),
        prunable_rows("e-mail changes", lambda: EmailChange.objects.filter(expires__lte=timezone.now())),
        prunable_rows(
            "rate windows",
            lambda: RateWindow.objects.filter(started__lte=timezone.now() - 10 * timedelta(seconds=WINDOW)),
        ),
        prunable_rows("sessions", lambda: Session.objects.filter(expire_date__lte=timezone.now())),
    ]
