"""What apps declare in their modules `openapi`, which import nothing of Django: the client generator reads them too.

| name | what |
|---|---|
| `TAGS` | headings of groups of operations |
| `ENUMS` | names of enumerations in the document, each with the path of its choices |
| `HOOKS` | paths of functions that change the whole document |
| `LINKS` | links of each component that a response shows |
| `LINKS_AFTER` | links of an operation that need more than the shown record, by operation ID |
| `WITH_ETAG` | components whose ETag operations take as If-Match |
| `CLIENT_NAMES` | names in the client libraries |
| `SEARCHED_AS` | phrases by which people search for an operation, by operation ID, separated by semicolons |
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

BODY = "$response.body#/"
FIRST = "$response.body#/0/"
LISTED = "For the first record in the list: "
OF_THE_REQUEST = "$request.path."
# OpenAPI has no way to say which members of a body come from a response that all generators take: `requestBody` of a
# link is the whole body, and several of them refuse one that is not a string.
LINKED_BODY = "x-requestBody"
ETAG = {"If-Match": "$response.header.ETag"}
# Apps declare exceptions to the rule as `CLIENT_NAMES` in their modules `openapi`.
WORDS = {"read": "get", "change": "update"}


@dataclass(frozen=True)
class Link:
    """A link to an operation by its ID; values are runtime expressions of OpenAPI, or names of members."""

    to: str
    says: str
    parameters: Mapping[str, str]
    body: Mapping[str, Any] = field(default_factory=dict)


class Tag(NamedTuple):
    """The heading of a group of operations; view sets name theirs as `tag`."""

    name: str
    description: str
    position: int


@dataclass(frozen=True)
class ClientNames:
    """`groups` by the first words of an operation ID, `methods` by operation ID.

    `repeatable` are idempotent operations, which may be resent without an Idempotency-Key.
    """

    groups: Mapping[str, str] = field(default_factory=dict)
    methods: Mapping[str, str] = field(default_factory=dict)
    repeatable: frozenset[str] = frozenset()

    @classmethod
    def merge(cls, names: Iterable["ClientNames"]) -> "ClientNames":
        groups: dict[str, str] = {}
        methods: dict[str, str] = {}
        repeatable: frozenset[str] = frozenset()
        for app_names in names:
            groups |= app_names.groups
            methods |= app_names.methods
            repeatable |= app_names.repeatable
        return cls(groups, methods, repeatable)

    def group_of(self, operation: str) -> str:
        start = self._start(operation)
        return self.groups.get(start, start + "s")

    def method_of(self, operation: str) -> str:
        if operation in self.methods:
            return self.methods[operation]
        action = operation.removeprefix(f"{self._start(operation)}_")
        return WORDS.get(action, action)

    def _start(self, operation: str) -> str:
        return next(
            (start for start in self.groups if operation.startswith(f"{start}_")), operation.partition("_")[0]
        )


def snake(name: str) -> str:
    """`storeID` and `If-Match` as Python writes them."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.replace("-", "_")).lower()


def camel(name: str) -> str:
    first, *other_words = name.split("_")
    return first + "".join(word.capitalize() for word in other_words)


def pascal(name: str) -> str:
    return "".join(word[0].upper() + word[1:] for word in name.split("_"))
