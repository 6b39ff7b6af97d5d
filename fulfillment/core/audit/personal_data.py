"""Personal data of apps: its export and its erasure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

Record = dict[str, Any]


def nothing(user: Any) -> None:
    """For records without personal data, which stay when a user is erased."""


@dataclass(frozen=True, slots=True)
class ErasureOptions:
    """Options for consequences beyond the erasure itself."""

    disable_applications: bool = False
    erase_orders: bool = False


@dataclass(frozen=True, slots=True)
class PersonalData:
    """`records` yields JSON objects and holds no secret; `erase` runs in the transaction of the whole erasure."""

    name: str
    records: Callable[[Any], Iterable[Record]]
    erase: Callable[[Any], None] = nothing
