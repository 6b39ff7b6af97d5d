"""Names in the client libraries, which the API reference shows as well: `order_create` is `client.orders.create`.

Apps declare exceptions to the rule as `CLIENT_NAMES` in their modules `openapi`.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

WORDS = {"read": "get", "change": "update"}


@dataclass(frozen=True)
class ClientNames:
    """`groups` by the first words of an operation ID, `methods` by operation ID.

    `repeatable` are idempotent operations, which may be resent without an Idempotency-Key.
    """

    groups: Mapping[str, str] = field(default_factory=dict)
    methods: Mapping[str, str] = field(default_factory=dict)
    repeatable: frozenset[str] = frozenset()

    @classmethod
    def joined(cls, names: Iterable["ClientNames"]) -> "ClientNames":
        groups: dict[str, str] = {}
        methods: dict[str, str] = {}
        repeatable: frozenset[str] = frozenset()
        for one in names:
            groups |= one.groups
            methods |= one.methods
            repeatable |= one.repeatable
        return cls(groups, methods, repeatable)

    def group_of(self, operation: str) -> str:
        start = self._start(operation)
        return self.groups.get(start, start + "s")

    def method_of(self, operation: str) -> str:
        if operation in self.methods:
            return self.methods[operation]
        rest = operation.removeprefix(f"{self._start(operation)}_")
        return WORDS.get(rest, rest)

    def _start(self, operation: str) -> str:
        return next(
            (start for start in self.groups if operation.startswith(f"{start}_")), operation.partition("_")[0]
        )


def snake(name: str) -> str:
    """`storeID` and `If-Match` as Python writes them."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.replace("-", "_")).lower()


def camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def pascal(name: str) -> str:
    return "".join(word[0].upper() + word[1:] for word in name.split("_"))
