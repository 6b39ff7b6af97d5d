from dataclasses import dataclass

from printing.preflight.geometry import Area
from printing.preflight.sheet import Background, Shown


@dataclass(frozen=True, slots=True)
class Hit:
    """The place of a broken rule: pages count from 0, `what` begins the message of the finding."""

    number: int
    area: Area
    what: str
    found: str
    wanted: str
    at: int | None = None


def hit_of(shown: Shown, found: str, wanted: str, *, area: Area | None = None) -> Hit:
    return Hit(shown.number, area or shown.area, shown.title, found, wanted, shown.at)


def hit_behind(background: Background, area: Area | None, found: str, wanted: str) -> Hit:
    """A fault of the artwork behind the page."""
    return Hit(background.number, background.place(area), "The background", found, wanted)
