"""The mistakes of a body: all are counted, the first are listed, and a form shows each at its field."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from fulfillment.core.errors import DomainError, Fault

# Otherwise a body full of mistakes would get a response of ten times its size.
MAX_LISTED = 100
# The code of an error detail that stands for mistakes which are only counted; its text is their number.
UNLISTED = "unlisted"
# A form leaves out the API's name before a message: the field has a label.
NAME = re.compile(r"[\w./\[\]-]+: (?=\S)")


@dataclass(slots=True)
class CountedFaults:
    count: int = 0
    listed: list[Fault] = field(default_factory=list)

    def count_one(self) -> bool:
        """Counts a mistake; returns whether it is listed and therefore needs a message."""
        self.count += 1
        return len(self.listed) < MAX_LISTED

    @property
    def summary(self) -> str:
        if self.count == 1 and self.listed:
            return self.listed[0].message
        return f"{self.count:,} things are wrong with the body."


def faults_at_fields(error: DomainError, fields: Mapping[str, str]) -> tuple[dict[str, list[str]], list[str]]:
    """The messages of each form field, and those that belong to no field; `fields` maps JSON pointers to names.

    A fault within a member is shown at the field of the member.
    """
    placed: dict[str, list[str]] = {}
    others = [] if error.faults else [error.message]
    for fault in error.faults:
        pointer = fault.pointer
        while pointer and pointer not in fields:
            pointer = pointer.rpartition("/")[0]
        if pointer not in fields or (fault.pointer and not pointer):
            others.append(fault.message)
            continue
        message, texts = _without_name(fault.message), placed.setdefault(fields[pointer], [])
        if message not in texts:
            texts.append(message)
    return placed, others


def _without_name(message: str) -> str:
    found = NAME.match(message)
    rest = message[found.end() :] if found else message
    return rest[:1].upper() + rest[1:] if found else rest
