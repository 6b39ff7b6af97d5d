from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gauges:
    """Gauges that /metrics reads from the database: rows of (name, label, value).

    `texts` has for each name its help text and the name of its label, or "" for none.
    """

    statement: str
    texts: Mapping[str, tuple[str, str]]
