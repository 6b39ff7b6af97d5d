"""Preflight: finds what may print badly in a template with a customer's values.

Reads the template, the values, the texts as the typesetter has measured them (`SetText`), and pictures. It reads no
file that was rendered, and of PDFs only artwork of the template. What artwork and backgrounds hold is read once and
kept in memory. One table has all rules: `stores.preflight.table.RULES`.
"""

from stores.preflight.checking import preflight
from stores.preflight.findings import Finding, Severity, has_error, records
from stores.preflight.limits import USUAL, Limits
from stores.preflight.rules.rule import Rule
from stores.preflight.sheet import Job, ProductFacts
from stores.preflight.table import RULES

__all__ = [
    "RULES",
    "USUAL",
    "Finding",
    "Job",
    "Limits",
    "ProductFacts",
    "Rule",
    "Severity",
    "has_error",
    "preflight",
    "records",
]
