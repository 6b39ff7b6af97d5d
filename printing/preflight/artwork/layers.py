"""What lies below what a PDF paints: whether overprint changes anything there."""

from collections.abc import Collection

from printing.preflight.geometry import Area

PROCESS_PLATES = ("C", "M", "Y", "K")
# Beyond these, something is taken to be below everything.
LAYERS = 2000


class Layers:
    """The plates and the place of all that was painted; None for unknown plates or places."""

    def __init__(self) -> None:
        self._painted: list[tuple[frozenset[str] | None, Area | None]] = []

    def add(self, plates: frozenset[str] | None, area: Area | None) -> None:
        if plates is None or plates:
            self._painted.append((plates, area))
            if len(self._painted) > LAYERS:
                self._painted = [(None, None)]

    def shows_through(self, painted: Collection[str] | None, area: Area | None) -> bool:
        """Whether there is ink below on other plates than the `painted` ones, which replace what is there."""
        return any(
            (plates is None or painted is None or not plates.issubset(painted))
            and (area is None or where is None or area.touches(where))
            for plates, where in self._painted
        )


def slivers(areas: list[Area], *, thin: float, long: float) -> list[Area]:
    """Long and thin areas. Those that lie along others are slices of one shape."""
    found = [one for one in areas if min(one.width, one.height) < thin and max(one.width, one.height) >= long]
    return [
        one
        for one in found
        if not any(
            one is not other
            and (one.width > one.height) == (other.width > other.height)
            and one.touches(other)
            for other in found
        )
    ]
