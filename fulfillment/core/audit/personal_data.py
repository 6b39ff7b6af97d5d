"""What each app keeps of a user: how it is handed out, and how it is forgotten."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

Record = dict[str, Any]


def nothing(user: Any) -> None:
    """For what stays when a user is erased: it says nothing of the person."""


@dataclass(frozen=True, slots=True)
class ErasureOptions:
    """What may be done beyond forgetting the person."""

    disable_applications: bool = False
    erase_orders: bool = False


@dataclass(frozen=True, slots=True)
class PersonalData:
    """`records` yields JSON objects and holds no secret; `erase` runs in the transaction of the whole erasure."""

    name: str
    records: Callable[[Any], Iterable[Record]]
    erase: Callable[[Any], None] = nothing
