from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from printing.preflight.findings import Severity
from printing.preflight.rules.hit import Hit
from printing.preflight.sheet import Sheet
from printing.press.rules import ColourPolicy

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
