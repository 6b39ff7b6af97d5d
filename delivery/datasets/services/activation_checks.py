"""Checks before a data set is activated automatically."""

from delivery.datasets.models import Dataset
from delivery.datasets.populations import Populations, Totals, sum_of
from delivery.datasets.selectors.populations import areas_of

TOLERANCE = 0.10
NAMED = 20


def activation_warnings(
    *,
    populations: Populations,
    totals: Totals,
    route_types: str,
    rejects: int,
    rows: int,
    max_reject: float,
    live: Dataset | None,
) -> list[str]:
    """Warnings for people; an empty list allows the activation. A synthetic active set is not compared."""
    concerns = []
    if rejects and rejects * 100 > max_reject * rows:
        concerns.append(
            f"{rejects * 100 / rows:.2f} % of the lines were rejected, more than {max_reject:g} %."
        )
    if live is None or live.is_synthetic:
        return concerns
    routes, residential, business = sum_of(totals, route_types)
    before = sum_of(live.totals_by_type, route_types)
    pairs = (
        ("ZIP codes", live.postal_code_count, len(populations)),
        ("routes", before[0], routes),
        ("residential deliveries", before[1], residential),
        ("business deliveries", before[2], business),
    )
    concerns += [
        f"{name} go from {old} to {new}, by more than {TOLERANCE:.0%}."
        for name, old, new in pairs
        if abs(new - old) > TOLERANCE * old
    ]
    vanished = sorted(areas_of(live) - {code[:3] for code in populations})
    if vanished:
        named = ", ".join(vanished[:NAMED]) + (", …" if len(vanished) > NAMED else "")
        concerns.append(f"{len(vanished)} 3-digit areas vanish: {named}.")
    return concerns
