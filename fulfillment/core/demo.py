"""Data types of the demo: what the `demo` modules of apps pass to each other while the demo data is loaded."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class DemoRun:
    """`people` by user name. `application` is set where it was made or put back by this run."""

    people: dict[str, Any] = field(default_factory=dict)
    application: Any = None


@dataclass(frozen=True)
class DemoCard:
    """The output of `make run`: (role, username, password) and a command to paste."""

    sign_ins: list[tuple[str, str, str]]
    curl: str
