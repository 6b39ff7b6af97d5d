"""The errors of the typesetter, and problems with the JSON pointer to their place."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InputProblem:
    """A fault in the input: a JSON pointer, a stable code, and a message for a person."""

    pointer: str
    code: str
    message: str


class Refused(ValueError):
    """Invalid input; `problems` holds all faults, not only the first."""

    def __init__(self, problems: Iterable[InputProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(f"{problem.pointer}: {problem.message}" for problem in self.problems))


class TemplateInvalid(Refused):
    """A template that must not be saved."""


class ValuesInvalid(Refused):
    """Field values that cannot be printed with this template."""


class FontInvalid(Refused):
    """A font file that must not be saved."""


class RenderingFailed(RuntimeError):
    """The typesetter failed because of the template, not because of the caller's values."""


class RenderingTimedOut(RenderingFailed):
    """Rendering took longer than its limit; its process was killed."""


def pointer(*steps: str | int) -> str:
    """Join steps to a JSON pointer (RFC 6901)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)
