"""The checklist of an application's first steps."""

from dataclasses import dataclass

from applications.registration.models import Application
from fulfillment.core.onboarding import Step
from fulfillment.core.plugins import offered


@dataclass(frozen=True, slots=True)
class Checklist:
    steps: list[Step]

    @property
    def done(self) -> int:
        return sum(step.is_done for step in self.steps)

    @property
    def is_complete(self) -> bool:
        return self.done == len(self.steps)

    @property
    def next(self) -> Step | None:
        return next((step for step in self.steps if not step.is_done), None)


def checklist_of(application: Application) -> Checklist:
    found = [step for steps in offered("onboarding", "steps") for step in steps(application)]
    return Checklist(sorted(found, key=lambda step: step.position))
