from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from stores.preflight.findings import Severity
from stores.preflight.rules.hit import Hit
from stores.preflight.sheet import Sheet
from stores.press.rules import ColourPolicy

Find = Callable[[Sheet], Iterator[Hit]]
Severities = Mapping[ColourPolicy, Severity | None]

ERROR: Severities = dict.fromkeys(ColourPolicy, Severity.ERROR)
WARNING: Severities = dict.fromkeys(ColourPolicy, Severity.WARNING)
# Says nothing where colours keep their profiles.
WHEN_CONVERTED: Severities = {ColourPolicy.MANAGED: None, ColourPolicy.CMYK: Severity.WARNING}
ERROR_WHEN_CONVERTED: Severities = {ColourPolicy.MANAGED: None, ColourPolicy.CMYK: Severity.ERROR}
STRICT_WHEN_CONVERTED: Severities = {
    ColourPolicy.MANAGED: Severity.WARNING,
    ColourPolicy.CMYK: Severity.ERROR,
}


@dataclass(frozen=True, slots=True)
class Rule:
    """`message` follows what is at fault: "Name" + "is set in letters too small to print"."""

    code: str
    severities: Severities
    message: str
    remedy: str
    find: Find
