"""Lists the rules, and runs them all on one input."""

from collections.abc import Iterator

from printing.preflight.artwork_facts import artwork_cache
from printing.preflight.background_pixels import background_cache
from printing.preflight.findings import FINDINGS, USUAL, Finding, Limits, Severity
from printing.preflight.pictures import picture_cache
from printing.preflight.rules import artwork, eddm, pictures, product, space, text
from printing.preflight.rules.rule import Rule, RuleMatch
from printing.preflight.sheet import CheckedSheet, PreflightInput

# In the order of the modules and of the functions in them.
RULES = (
    *(
        member
        for kind in (product, space, text, pictures, artwork)
        for member in vars(kind).values()
        if isinstance(member, Rule)
    ),
    *eddm.RULES,
)


def preflight(job: PreflightInput, limits: Limits = USUAL) -> list[Finding]:
    """Returns all findings: errors first, then by page and position; at most FINDINGS."""
    findings = sorted(_find_all(CheckedSheet(job, limits)), key=_rank_finding)
    return findings[:FINDINGS]


def clear_caches() -> None:
    """Forgets what was read of artwork, pictures and backgrounds."""
    for cache in (artwork_cache, picture_cache, background_cache):
        cache.clear()


def severity_of(rule: Rule, limits: Limits) -> Severity | None:
    """The severity of a rule: of the preset, else its own; None if it is off."""
    preset_severity = limits.severities.get(rule.code)
    if preset_severity is None:
        return rule.severities[limits.policy]
    return Severity(preset_severity) if preset_severity in set(Severity) else None


def _find_all(sheet: CheckedSheet) -> Iterator[Finding]:
    for rule in RULES:
        severity = severity_of(rule, sheet.limits)
        if severity is not None:
            is_chosen = rule.code in sheet.limits.severities
            for match in rule.find(sheet):
                of_pdf = rule.of_pdf if match.is_pdf and not is_chosen else None
                yield _build_finding(rule, of_pdf or severity, match)


def _build_finding(rule: Rule, severity: Severity, match: RuleMatch) -> Finding:
    message = f"{match.subject} {rule.message} ({match.found}; expected: {match.wanted})."
    return Finding(
        rule.code,
        severity,
        match.number + 1,
        match.area,
        match.found,
        match.wanted,
        message,
        rule.remedy,
        match.box_index,
    )


def _rank_finding(finding: Finding) -> tuple[object, ...]:
    return finding.severity != Severity.ERROR, finding.page, finding.area.y, finding.area.x, finding.code
