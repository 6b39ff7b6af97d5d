"""Plans an EDDM mailing: bundles of each route, and drops at each entry post office and day. No database.

The rules are those of EDDM Retail (Domestic Mail Manual 145): bundles of 50 to 100 pieces, at most 5,000 pieces for
a ZIP code and day, at least 200 in a mailing.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

MIN_BUNDLE, MAX_BUNDLE = 50, 100
MAX_PER_DAY = 5_000
MIN_MAILING = 200


@dataclass(frozen=True, slots=True)
class DropRoute:
    """A carrier route with its number of pieces. `entry_office` is empty if unknown."""

    postal_code: str
    carrier_route: str
    entry_office: str
    pieces: int

    @property
    def name(self) -> str:
        return self.postal_code + self.carrier_route


@dataclass(frozen=True, slots=True)
class Bundle:
    """Number `number` of the `count` bundles of its route."""

    route: DropRoute
    number: int
    count: int
    pieces: int

    @property
    def code(self) -> str:
        """The content of the facing slip's barcode."""
        return f"{self.route.name}-{self.number}-{self.count}-{self.pieces}"


@dataclass(frozen=True, slots=True)
class Drop:
    """The bundles for one post office on one day; days count from 1."""

    entry_office: str
    day: int
    bundles: tuple[Bundle, ...]

    @property
    def pieces(self) -> int:
        return sum(bundle.pieces for bundle in self.bundles)

    @property
    def is_below_minimum(self) -> bool:
        return self.pieces < MIN_MAILING

    def routes(self) -> Iterator[tuple[DropRoute, tuple[Bundle, ...]]]:
        """The routes, each with its bundles in this drop."""
        for route, bundles in groupby(self.bundles, attrgetter("route")):
            yield route, tuple(bundles)


def bundle_sizes(pieces: int, full: int = MAX_BUNDLE) -> list[int]:
    """Full bundles as a banding machine counts them, the last two shared: 443 become 100, 100, 100, 72 and 71.

    `full` is 100 or 50. Below 50 pieces there is one bundle; a rest that would be smaller joins the bundle before it.
    """
    if full == MIN_BUNDLE:
        full_count, remaining = divmod(pieces, full)
        return [full] * (full_count - 1) + [full + remaining] if full_count else [remaining]
    last = pieces - max(0, -(-pieces // full) - 2) * full
    shared = [last] if last <= full else [last - last // 2, last // 2]
    return [full] * ((pieces - last) // full) + shared


def plan_drops(routes: Iterable[DropRoute], *, full: int = MAX_BUNDLE) -> tuple[Drop, ...]:
    """Drops in the order of their days and offices, with full bundles of `full` pieces.

    Raises ValueError for routes that cannot be mailed.
    """
    days: dict[tuple[int, str], list[Bundle]] = {}
    sorted_routes = sorted(routes, key=attrgetter("postal_code", "carrier_route"))
    _check_routes(sorted_routes)
    for _, of_code in groupby(sorted_routes, attrgetter("postal_code")):
        for day, loads in enumerate(_spread_loads(_split_routes(of_code, full)), start=1):
            for load in sorted(loads, key=lambda load: (load[0].route.name, load[0].number)):
                days.setdefault((day, _office_of(load[0].route)), []).extend(load)
    return tuple(Drop(office, day, tuple(days[day, office])) for day, office in sorted(days))


def _office_of(route: DropRoute) -> str:
    return route.entry_office or f"Post office serving {route.postal_code}"


def _check_routes(routes: Sequence[DropRoute]) -> None:
    names: set[str] = set()
    for route in routes:
        if route.pieces < 1:
            raise ValueError(f"Route {route.name} has no pieces.")
        if route.name in names:
            raise ValueError(f"Route {route.name} is named twice.")
        names.add(route.name)


Load = tuple[Bundle, ...]


def _split_routes(routes: Iterable[DropRoute], full_bundle: int) -> list[Load]:
    """Loads that stay together: a whole route, or as many bundles of a large one as a day allows."""
    loads: list[Load] = []
    for route in routes:
        sizes = bundle_sizes(route.pieces, full_bundle)
        bundles = [Bundle(route, number, len(sizes), size) for number, size in enumerate(sizes, start=1)]
        full = MAX_PER_DAY // max(sizes)
        loads += [tuple(bundles[start : start + full]) for start in range(0, len(bundles), full)]
    return loads


def _spread_loads(loads: Sequence[Load]) -> list[list[Load]]:
    """Spreads loads over the fewest days, evenly, so that no small rest falls below the minimum."""
    heavy_first = sorted(loads, key=weight_of, reverse=True)
    count = -(-sum(map(weight_of, loads)) // MAX_PER_DAY)
    days = _fill_days(heavy_first)
    while count < len(days):
        if (level_days := _level_loads(heavy_first, count)) is not None:
            return level_days
        count += 1
    return _level_loads(heavy_first, count) or days


def weight_of(load: Load) -> int:
    return sum(bundle.pieces for bundle in load)


def _level_loads(loads: Sequence[Load], count: int) -> list[list[Load]] | None:
    """Puts each load on the day with the fewest pieces; None if it does not fit."""
    days: list[list[Load]] = [[] for _ in range(count)]
    weights = [0] * count
    for load in loads:
        least = weights.index(min(weights))
        days[least].append(load)
        weights[least] += weight_of(load)
    return days if max(weights) <= MAX_PER_DAY else None


def _fill_days(loads: Sequence[Load]) -> list[list[Load]]:
    """Puts each load on the first day with enough room."""
    days: list[list[Load]] = []
    weights: list[int] = []
    for load in loads:
        weight = weight_of(load)
        for day, day_weight in enumerate(weights):  # noqa: B007 - the day that has room
            if day_weight + weight <= MAX_PER_DAY:
                break
        else:
            day = len(days)
            days.append([])
            weights.append(0)
        days[day].append(load)
        weights[day] += weight
    return days
