from django.contrib.sessions.models import Session
from django.utils import timezone

from accounts.models import IdempotentAnswer
from accounts.services.idempotency import KEPT
from fulfillment.pruning import Prunable, prunable_rows


def prunables() -> list[Prunable]:
    return [
        prunable_rows(
            "idempotent answers",
            lambda: IdempotentAnswer.objects.filter(created__lte=timezone.now() - KEPT),
        ),
        prunable_rows("sessions", lambda: Session.objects.filter(expire_date__lte=timezone.now())),
    ]
