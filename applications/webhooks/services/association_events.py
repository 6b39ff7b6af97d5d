from typing import Any

from accounts.models import AssociationRequest, AssociationState
from applications.webhooks.models import EventType
from applications.webhooks.services.events import record_event

TYPES = {
    AssociationState.APPROVED: EventType.ASSOCIATION_APPROVED,
    AssociationState.DENIED: EventType.ASSOCIATION_DENIED,
}


def record_decision_event(sender: Any, *, request: AssociationRequest, **more: Any) -> None:
    """Receives `accounts.services.associations.association_decided`, in its transaction."""
    store_id = request.store.external_id if request.store else ""
    record_event(
        application_id=request.application_id,
        store_id=store_id,
        type=TYPES[AssociationState(request.state)],
        timestamp=request.decided,
        data={
            "AssociationID": str(request.pk),
            "StoreID": store_id or None,
            "UserID": str(request.user_id) if request.user_id else None,
            "State": request.state,
            "Grants": list(request.grants),
        },
    )
