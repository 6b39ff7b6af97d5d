from uuid import UUID

from fulfillment.core.outbox import ThreadedOutbox
from stores.orders.services.simulation import claim_due_scenarios, postpone_step, run_step


def services() -> list[ThreadedOutbox[UUID]]:
    """The steps of test orders, one after another, because none is urgent. Called in the worker's event loop."""
    return [
        ThreadedOutbox(
            "test scenarios",
            claim=claim_due_scenarios,
            work=lambda order_id: run_step(order_id=order_id),
            record_fault=lambda order_id: postpone_step(order_id=order_id),
            at_once=1,
        )
    ]
