"""What a kind of worst-case caller is."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.benchmarks.neighbours.scene import Scene

Make = Callable[[Scene], list[bytes]]


@dataclass(frozen=True)
class Kind:
    """`make` gives the requests, which its connections send in turn; a service is running by then."""

    name: str
    caller: str
    make: Make
    pace: str = "whole"


class Kinds(list[Kind]):
    """Those of one sort of caller, in the order of their definition."""

    def __init__(self, caller: str) -> None:
        super().__init__()
        self.caller = caller

    def kind(self, name: str, pace: str = "whole") -> Callable[[Make], Make]:
        def add(make: Make) -> Make:
            self.append(Kind(name, self.caller, make, pace))
            return make

        return add
