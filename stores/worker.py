from uuid import UUID

from fulfillment.core.outbox import ThreadedOutbox
from stores.orders.services.simulation import claim_due_scenarios, postpone_step, run_step


class ScenarioRunner(ThreadedOutbox[UUID]):
    """Runs the steps of test orders one after another; none of them is urgent."""

    def __init__(self) -> None:
        super().__init__(
            "test scenarios",
            claim=claim_due_scenarios,
            work=lambda order_id: run_step(order_id=order_id),
            record_fault=lambda order_id: postpone_step(order_id=order_id),
            at_once=1,
        )


def services() -> list[ScenarioRunner]:
    """Called in the worker's event loop."""
    return [ScenarioRunner()]
