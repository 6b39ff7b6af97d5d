"""What apps share while the demo data is loaded: each app's module `demo` finds there what the apps before it made."""

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
