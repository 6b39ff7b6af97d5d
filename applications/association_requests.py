"""Hooks that `accounts` calls in the transactions that decide requests for associations."""

from accounts.models import AssociationRequest
from applications.registration.services.notices import notify_of_decision
from applications.webhooks.services.events import record_decision_event


def association_decided(*, request: AssociationRequest) -> None:
    notify_of_decision(request=request)
    record_decision_event(request=request)
