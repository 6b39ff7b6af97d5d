"""Events of batches, for the application that made them."""

from django.conf import settings

from applications.webhooks.event_types import EventType
from applications.webhooks.services.events import record_event
from stores.batches.models import Batch, BatchStatus, RowState
from stores.batches.selectors import counts_of
from stores.budgets.standings import number
from stores.catalog.models import BudgetType

EVENT_TYPES = {
    BatchStatus.CHECKED: EventType.BATCH_CHECKED,
    BatchStatus.ORDERED: EventType.BATCH_ORDERED,
}


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
