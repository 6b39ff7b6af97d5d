"""The ledger of budgets against a small model, in thousands of steps."""

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.benchmarks.soak_scene import empty_database

# Some stories end early.
STEPS, STEPS_OF_A_STORY, USUAL_STEPS = 10_000, 100, 77
MARK = "after each step the service agrees with the model, and balances with their entries"


def measure(steps: int = STEPS) -> list[str]:
    empty_database()
    line = f"{take_steps(steps):,} steps agree"
    print(line, flush=True)
    return [line]


def take_steps(steps: int = STEPS) -> int:
    """Takes about as many, each followed by a comparison; returns how many there were."""
    from tests.support.budget_model import BudgetMachine

    taken = [0]

    class Machine(BudgetMachine):
        def teardown(self) -> None:
            taken[0] += self.steps
            super().teardown()

    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=max(1, steps // USUAL_STEPS),
            stateful_step_count=STEPS_OF_A_STORY,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
        ),
    )
    return taken[0]
