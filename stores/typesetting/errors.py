from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in what was sent: where (JSON pointer), a stable code, and words for a person."""

    pointer: str
    code: str
    message: str


class Refused(ValueError):
    """Input that cannot be accepted; `problems` holds every reason found, not only the first."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(f"{problem.pointer}: {problem.message}" for problem in self.problems))


class TemplateInvalid(Refused):
    """A template that must not be saved."""


class ValuesInvalid(Refused):
    """Field values that cannot be printed with this template."""


class FontInvalid(Refused):
    """A font file that must not be saved."""


class RenderingFailed(RuntimeError):
    """The typesetter could not finish; the template is at fault, not the caller's values."""


class RenderingTimedOut(RenderingFailed):
    """Rendering took longer than its limit; the process that did it is gone."""


class RenderingBusy(RuntimeError):
    """No typesetter came free in time; the same call may succeed later."""


def pointer(*steps: str | int) -> str:
    """Join steps to a JSON pointer (RFC 6901)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)
