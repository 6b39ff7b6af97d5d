"""The ledger against a small model, over years, in stories of many steps."""

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.support.cases import cases
from tests.support.orders.budget_model import BudgetMachine

STEPS, STEPS_OF_A_STORY = cases(600, 10_000), 100

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def test_ledger_does_what_the_model_does():
    used = 0

    class Machine(BudgetMachine):
        def teardown(self):
            nonlocal used
            used += self.steps
            super().teardown()

    # Some stories end early.
    while used < STEPS:
        seed(7 + used)(Machine)
        run_state_machine_as_test(
            Machine,
            settings=settings(
                max_examples=max(1, (STEPS - used) // STEPS_OF_A_STORY),
                stateful_step_count=STEPS_OF_A_STORY,
                deadline=None,
                suppress_health_check=list(HealthCheck),
                database=None,
            ),
        )
