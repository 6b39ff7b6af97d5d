"""Checks tickets against CIP4's published schema: `python -m production.tickets.check FILE...`

The schema is not ours to ship: PRODUCTION_XJDF_SCHEMA is the path of your copy of `xjdf.xsd`, or of
`JDF.xsd` for JDF tickets.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from lxml import etree

from production.tickets.xjmf import parse_xml

VARIABLE = "PRODUCTION_XJDF_SCHEMA"


def find_mistakes(ticket: bytes, schema: Path) -> list[str]:
    """Returns one message for each violation of the schema."""
    root = parse_xml(ticket)
    rules = etree.XMLSchema(etree.parse(schema, etree.XMLParser(no_network=True, resolve_entities=False)))
    rules.validate(root)
    return [f"Line {mistake.line}: {mistake.message}" for mistake in rules.error_log]


def main(arguments: Sequence[str]) -> int:
    schema = Path(os.environ.get(VARIABLE, ""))
    if not arguments:
        return _report_failure("Name the tickets to check: python -m production.tickets.check FILE...")
    if not schema.is_file():
        return _report_failure(f"{VARIABLE} must be the path of CIP4's xjdf.xsd (https://schema.cip4.org).")
    failed = 0
    for name in arguments:
        try:
            mistakes = find_mistakes(Path(name).read_bytes(), schema)
        except (OSError, ValueError, etree.XMLSchemaParseError) as error:
            mistakes = [str(error)]
        failed += bool(mistakes)
        for line in mistakes or ["valid"]:
            sys.stdout.write(f"{name}: {line}\n")
    return 1 if failed else 0


def _report_failure(sentence: str) -> int:
    sys.stderr.write(f"{sentence}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
