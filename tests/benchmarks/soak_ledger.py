"""The ledger of budgets against a small model, in thousands of steps."""

from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.benchmarks.soak_scene import empty_database

STEPS, STEPS_OF_A_STORY = 10_000, 100
MARK = "after each step the service agrees with the model, and balances with their entries"


def measure(steps: int = STEPS) -> list[str]:
    empty_database()
    line = f"{take_steps(steps):,} steps agree"
    print(line, flush=True)
    return [line]


def take_steps(steps: int, *, chance: int | None = None) -> int:
    """At least as many, each followed by a comparison: some stories end early. Returns how many there were.

    The same `chance` tells the same stories.
    """
    from tests.support.budget_model import BudgetMachine

    taken = [0]

    class Machine(BudgetMachine):
        def teardown(self) -> None:
            taken[0] += self.steps
            super().teardown()

    while taken[0] < steps:
        if chance is not None:
            seed(chance + taken[0])(Machine)
        run_state_machine_as_test(
            Machine,
            settings=settings(
                max_examples=max(1, (steps - taken[0]) // STEPS_OF_A_STORY),
                stateful_step_count=STEPS_OF_A_STORY,
                deadline=None,
                suppress_health_check=list(HealthCheck),
                database=None,
            ),
        )
    return taken[0]
