"""The ledger against a small model, over years: 4,000 steps here, and 10,000 in `make soak ARGS="--only ledger"`."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.support.budget_model import BudgetMachine

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


def test_ledger_does_what_the_model_does(world):
    class Machine(BudgetMachine):
        def staff(self):
            return world.user

    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=40,
            stateful_step_count=100,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
