"""The parts of a preflight rule: what it finds, and how it is declared."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from printing.area import Area
from printing.preflight.findings import Severity
from printing.preflight.sheet import Background, CheckedSheet, VisibleBox
from printing.press.rules import ColorPolicy


@dataclass(frozen=True, slots=True)
class RuleMatch:
    """The place of a broken rule: pages count from 0, `subject` begins the message of the finding."""

    number: int
    area: Area
    subject: str
    found: str
    wanted: str
    box_index: int | None = None
    is_pdf: bool = False


def match_of(visible: VisibleBox, found: str, wanted: str, *, area: Area | None = None) -> RuleMatch:
    return RuleMatch(visible.number, area or visible.area, visible.title, found, wanted, visible.box_index)


def match_behind(background: Background, area: Area | None, found: str, wanted: str) -> RuleMatch:
    """A fault of the artwork behind the page."""
    return RuleMatch(background.number, background.place(area), "The background", found, wanted)


Find = Callable[[CheckedSheet], Iterator[RuleMatch]]
Severities = Mapping[ColorPolicy, Severity | None]

ERROR: Severities = dict.fromkeys(ColorPolicy, Severity.ERROR)
WARNING: Severities = dict.fromkeys(ColorPolicy, Severity.WARNING)
# Says nothing where colors keep their profiles.
WHEN_CONVERTED: Severities = {ColorPolicy.MANAGED: None, ColorPolicy.CMYK: Severity.WARNING}
ERROR_WHEN_CONVERTED: Severities = {ColorPolicy.MANAGED: None, ColorPolicy.CMYK: Severity.ERROR}
STRICT_WHEN_CONVERTED: Severities = {
    ColorPolicy.MANAGED: Severity.WARNING,
    ColorPolicy.CMYK: Severity.ERROR,
}


@dataclass(frozen=True, slots=True)
class Rule:
    """`message` follows what is at fault: "Name" + "is set in letters too small to print".

    `of_pdf` replaces the severities where a PDF is at fault, but not the severity of a preset.
    """

    code: str
    severities: Severities
    message: str
    remedy: str
    find: Find
    of_pdf: Severity | None = None


def rule(
    severities: Severities, message: str, remedy: str, of_pdf: Severity | None = None
) -> Callable[[Find], Rule]:
    """Makes the function that checks a rule into this rule; the function has the name of its code."""
    return lambda find: Rule(find.__name__, severities, message, remedy, find, of_pdf)
