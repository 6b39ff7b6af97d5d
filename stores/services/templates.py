"""Judges a product's template before it is saved: by the typesetter's rules, and by setting it once."""

import hashlib
from collections.abc import Sequence

import orjson

from fulfillment.errors import Fault
from stores.catalog_records import Record, fingerprint
from stores.selectors.fonts import font_set
from stores.services.fillings import typesetting_at_work
from stores.typesetting import (
    Field,
    FontSet,
    Problem,
    TemplateInvalid,
    parse_template,
    read_field,
    try_template,
)


class TemplateChecks:
    """For one transaction: many products of a catalog share a template, which is then judged once."""

    def __init__(self) -> None:
        self._found: dict[bytes, tuple[Problem, ...]] = {}
        self._fonts: FontSet | None = None

    def faults(self, record: Record, pointer: str = "") -> list[Fault]:
        if record["Template"] is None:
            return []
        entries = record["TemplateFields"]
        key = hashlib.blake2b(
            orjson.dumps([record["Template"], entries], option=orjson.OPT_SORT_KEYS)
        ).digest()
        if key not in self._found:
            fields = [read_field(entry) for entry in entries]
            self._found[key] = self._problems(record["Template"], fields)
        return [
            Fault(f"{pointer}/Template{problem.pointer}", problem.code, f"Template: {problem.message}")
            for problem in self._found[key]
        ]

    def _problems(self, template: object, fields: Sequence[Field]) -> tuple[Problem, ...]:
        if self._fonts is None:
            self._fonts = font_set()
        try:
            with typesetting_at_work():
                try_template(parse_template(template, fields, self._fonts), self._fonts)
        except TemplateInvalid as error:
            return error.problems
        return ()


def same_template(record: Record, stored: Record) -> bool:
    """One that stays is not judged again: a font it needs may be gone, and its product must be archivable."""
    return fingerprint(_parts(record)) == fingerprint(_parts(stored))


def _parts(record: Record) -> Record:
    return {name: record[name] for name in ("Template", "TemplateFields")}
