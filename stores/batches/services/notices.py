"""Bell and mail for approvers of a batch and the people who ordered it; events for the application that made it."""

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from applications.webhooks.event_types import EventType
from applications.webhooks.services.events import record_event
from stores.batches.models import Batch, BatchApproval, BatchStatus, RowState
from stores.batches.selectors.batches import counts_of
from stores.budgets.standings import number
from stores.catalog.models import BudgetType
from stores.orders.models import ApprovalState
from stores.orders.services.approval_notices import send_decision, send_to_approvers

EVENT_TYPES = {
    BatchStatus.CHECKED: EventType.BATCH_CHECKED,
    BatchStatus.ORDERED: EventType.BATCH_ORDERED,
}


def decision_key(batch: Batch) -> str:
    return f"batch:{batch.pk}:decided"


def notify_approvers(approval: BatchApproval, *, is_reminder: bool = False) -> int:
    batch = approval.batch
    key = f"batch:{batch.pk}:{approval.requested.timestamp()}"
    return send_to_approvers(
        approval,
        subject=lambda: _("The batch %(batch)s of %(store)s") % {"batch": batch, "store": batch.store},
        store_id=batch.store_id,
        key=f"{key}:reminder" if is_reminder else key,
        path=reverse("admin:stores_batch_change", args=[batch.pk]),
        outcome=gettext_noop("cancelled"),
        is_reminder=is_reminder,
    )


def notify_of_decision(approval: BatchApproval) -> int:
    batch = approval.batch
    return send_decision(
        approval,
        subject=lambda: _("The batch %(batch)s at %(store)s") % {"batch": batch, "store": batch.store},
        state=ApprovalState(approval.state),
        by=batch,
        key=decision_key(batch),
        path=reverse("portal:batch", args=[batch.pk]),
    )


def announce(batch: Batch) -> None:
    """Call it in the transaction that gives the batch its status."""
    if batch.application_id is None:
        return
    counts, store_id = counts_of(batch), batch.store.external_id
    record_event(
        application_id=batch.application_id,
        store_id=store_id,
        type=EVENT_TYPES[BatchStatus(batch.status)],
        timestamp=batch.updated,
        data={
            "BatchID": str(batch.pk),
            "StoreID": store_id,
            "Name": batch.name,
            "Status": batch.status,
            "Counts": {state.value: counts.by_state.get(state, 0) for state in RowState},
            "Currency": batch.store.currency,
            "Total": number(BudgetType.AMOUNT, counts.total),
            "BatchURL": f"{settings.API_URL}/store/{store_id}/batch/{batch.pk}",
        },
    )
