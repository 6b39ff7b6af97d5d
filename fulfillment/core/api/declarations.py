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

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

BODY = "$response.body#/"
FIRST = "$response.body#/0/"
LISTED = "For the first record in the list: "
OF_THE_REQUEST = "$request.path."
# OpenAPI has no way to say which members of a body come from an answer that all generators take: `requestBody` of a
# link is the whole body, and several of them refuse one that is not a string.
LINKED_BODY = "x-requestBody"
ETAG = {"If-Match": "$response.header.ETag"}


@dataclass(frozen=True)
class Link:
    """To an operation by its ID; values are runtime expressions of OpenAPI, or names of the shown thing's members."""

    to: str
    says: str
    parameters: Mapping[str, str]
    body: Mapping[str, Any] = field(default_factory=dict)


class Tag(NamedTuple):
    """The heading of a group of operations; view sets name theirs as `tag`."""

    name: str
    description: str
    position: int
