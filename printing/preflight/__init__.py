"""Preflight: finds what may print badly in a template with a customer's values.

Reads the template, the values, the texts as the typesetter has measured them (`SetText`), and pictures. It reads no
file that was rendered, and of PDFs only artwork of the template. What artwork and backgrounds hold is read once and
kept in memory. Each rule is a function in `printing.preflight.rules`.
"""

from printing.preflight.checking import RULES, clear_caches, preflight
from printing.preflight.findings import Finding, Limits, Severity, records
from printing.preflight.sheet import PreflightInput, ProductFacts, die_lines_of
