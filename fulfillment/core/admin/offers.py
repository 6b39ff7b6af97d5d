"""What apps offer to the console, in a module `console`: NAVIGATION and dashboard_cards(request)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Entry:
    """A link of the side bar to the list of a model, "app.model". Entries stand in the order of `position`."""

    group: str
    name: str
    icon: str
    model: str
    position: int


@dataclass(frozen=True, slots=True)
class Card:
    """A part of the start page: its template sees `context` as `card`."""

    template: str
    context: Mapping[str, Any]
    position: int
