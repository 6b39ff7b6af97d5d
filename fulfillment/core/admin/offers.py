"""Data types for what apps offer to the console in a module `console`:

NAVIGATION, dashboard_cards(…), needs_attention(…), search(…).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Entry:
    """A link of the menu to the list of a model, "app.model". Entries stand in the order of `position`.

    One that is `minor` stands on the page *System* where the menu would be too long with it.
    """

    group: str
    name: str
    icon: str
    model: str
    position: int
    minor: bool = False


@dataclass(frozen=True, slots=True)
class Card:
    """A card of the start page; its template gets `context` as `card`."""

    template: str
    context: Mapping[str, Any]
    position: int


@dataclass(frozen=True, slots=True)
class Attention:
    """A problem that needs a decision: "3" "orders are late", with a link to the list.

    Apps offer none for a count of zero. The smaller `position`, the more urgent.
    """

    count: int
    words: str
    address: str
    position: int
    detail: str = ""
    # Counts stop here.
    is_at_least: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """A result of the console's search. Results stand in the order of `rank`: see `fulfillment.core.admin.hits`."""

    kind: str
    title: str
    detail: str
    address: str
    rank: int
