"""The ledger of budgets against a small model, in more steps than the tests take."""

from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.benchmarks.soak_scene import fresh_world

STEPS, STEPS_OF_A_STORY = 10_000, 100
MARK = "after each step the service agrees with the model, and balances with their entries"


def measure(steps: int = STEPS) -> list[str]:
    from tests.support.budget_model import BudgetMachine

    world, taken = fresh_world(), [0]

    class Machine(BudgetMachine):
        def staff(self) -> Any:
            return world.user

        def teardown(self) -> None:
            taken[0] += self.steps
            super().teardown()

    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=max(1, steps // STEPS_OF_A_STORY),
            stateful_step_count=STEPS_OF_A_STORY,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
        ),
    )
    line = f"{taken[0]:,} steps agree"
    print(line, flush=True)
    return [line]
