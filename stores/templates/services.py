"""Checks a product's template before it is saved: by the typesetter's rules, and by rendering it."""

import hashlib
import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import orjson
from django.db import connection, transaction

from fulfillment.core.errors import Conflict, Fault, Invalid
from fulfillment.core.files.storage import storage_errors
from fulfillment.core.files.stored import remove_files, write_files
from fulfillment.core.text import JsonObject, parse_uuid
from printing.preflight.eddm import check_pages
from printing.text import is_blank
from printing.typesetting import (
    Artwork,
    FontInvalid,
    FontSet,
    InputProblem,
    RenderingFailed,
    Template,
    TemplateInvalid,
    ValuesInvalid,
    open_font,
    parse_template,
    pointer,
    read_field,
    render_proof,
    resolve_values,
    try_template,
)
from stores.templates.models import Font
from stores.templates.records import fingerprint
from stores.templates.selectors import font_file, font_set, typesetting_errors

SUFFIXES = {b"OTTO": ".otf", b"ttcf": ".ttc"}
USERS = """
SELECT external_id FROM stores_product
WHERE template IS NOT NULL
  AND (jsonb_path_exists(template, '$.Pages[*].Boxes[*].Font ? (@ == $name)', jsonb_build_object('name', %s::text))
    OR EXISTS (SELECT FROM jsonb_path_query(template, '$.*.* ? (@.MediaType == "image/svg+xml").Data') AS svg
               WHERE svg #>> '{}' ~* %s))
ORDER BY id LIMIT 5
"""
# The members of a template field that replace a missing customer's value.
DEFAULTS = ("DefaultValue", "OrgValue")


def add_font(*, file_name: str, content: bytes) -> Font:
    """Checks and stores the font file; templates may use its families from then on."""
    try:
        families = open_font(content)
    except FontInvalid as error:
        faults = [Fault("/file", problem.code, problem.message) for problem in error.problems]
        raise Invalid(faults[0].message, faults=faults) from error
    # Also those of other scripts, which every template falls back on.
    if shipped_families := {face.family for face in FontSet.shipped().faces}.intersection(families):
        message = (
            f"{', '.join(sorted(shipped_families))} comes with the service; rename the family in the file."
        )
        raise Invalid.at("/file", "family_taken", message)
    font = Font(
        families=list(families),
        file_name=file_name[:200],
        suffix=SUFFIXES.get(content[:4], ".ttf"),
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
    )
    if Font.objects.filter(sha256=font.sha256).exists():
        raise Invalid.at("/file", "font_known", "This file has already been added.")
    with storage_errors():
        write_files([(font_file(font), content)])
    font.save(force_insert=True)
    return font


@transaction.atomic
def remove_font(*, font: Font) -> None:
    """Raises Conflict while a template uses a family that only this file has."""
    others = {name for other in Font.objects.exclude(pk=font.pk) for name in other.families}
    for family in set(font.families) - others:
        if products := _users_of(family):
            message = f"{family} is used by the templates of {', '.join(products)}; change these first."
            raise Conflict(message, code="font_in_use")
    font.delete()
    transaction.on_commit(lambda: remove_files([font_file(font)]))


def _users_of(family: str) -> list[str]:
    with connection.cursor() as cursor:
        in_svg = f"font-family[^<>]*{re.escape(html.escape(family, quote=False))}"
        cursor.execute(USERS, [family, in_svg])
        return [row[0] for row in cursor.fetchall()]


class TemplateChecks:
    """Caches results: many products of a catalog share a template. Use one instance for one transaction only."""

    def __init__(self) -> None:
        self._results: dict[bytes, tuple[InputProblem, ...]] = {}
        self._fonts: FontSet | None = None

    def faults(self, record: JsonObject, root: str = "") -> list[Fault]:
        entries = record["TemplateFields"]
        if record["Template"] is None:
            problems = tuple(_unusable_values(entries, {}))
        else:
            key = hashlib.blake2b(
                orjson.dumps([record["Template"], entries], option=orjson.OPT_SORT_KEYS)
            ).digest()
            if key not in self._results:
                self._results[key] = self._problems(record["Template"], entries)
            problems = self._results[key]
        return [
            Fault(f"{root}{problem.pointer}", problem.code, f"{_find_member(problem)}: {problem.message}")
            for problem in problems
        ]

    def _problems(self, template: object, entries: Sequence[JsonObject]) -> tuple[InputProblem, ...]:
        if self._fonts is None:
            self._fonts = font_set()
        try:
            with typesetting_errors():
                parsed = parse_template(template, [read_field(entry) for entry in entries], self._fonts)
                try_template(parsed, self._fonts)
        except TemplateInvalid as error:
            return tuple(
                replace(problem, pointer=f"/Template{problem.pointer}") for problem in error.problems
            )
        if broken := tuple(_broken_eddm_rules(parsed)):
            return broken
        unusable = tuple(_unusable_values(entries, parsed.gallery))
        return unusable or tuple(_unprintable_values(entries, parsed, self._fonts))


def _broken_eddm_rules(template: Template) -> Iterator[InputProblem]:
    for finding in check_pages(template.pages):
        if finding.is_error:
            box_pointer = pointer("Template", "Pages", finding.page or 0, "Boxes", finding.box or 0)
            yield InputProblem(box_pointer, finding.code, finding.message)


def _unusable_values(entries: Sequence[JsonObject], gallery: Mapping[str, Artwork]) -> Iterator[InputProblem]:
    """Checks the defaults by the rules for customers' values: a customer could not correct a default."""
    for index, member, value in _default_values(entries):
        field = replace(read_field(entries[index]), required=False)
        if (field.type, field.sub_type) == ("Image", "Upload"):
            if value not in gallery and parse_uuid(value.strip()) is None:
                message = f"{field.field_name} must be an AssetID or a name of the gallery."
                yield InputProblem(pointer("TemplateFields", index, member), "unknown_picture", message)
            continue
        try:
            resolve_values([field], {field.field_name: value}, gallery)
        except ValuesInvalid as error:
            for problem in error.problems:
                yield replace(problem, pointer=pointer("TemplateFields", index, member))


def _unprintable_values(
    entries: Sequence[JsonObject], template: Template, fonts: FontSet
) -> Iterator[InputProblem]:
    """Renders the template with the defaults of one member at a time; each must fit."""
    for member in DEFAULTS:
        indexes = {pointer(entry["FieldName"]): index for index, entry in enumerate(entries)}
        values = {
            entries[index]["FieldName"]: value
            for index, kind, value in _default_values(entries)
            if kind == member and not _is_uploaded_picture(entries[index], value, template)
        }
        if not values:
            continue
        with typesetting_errors():
            problems = _problems_of(template, values, fonts)
        for problem in problems:
            index = indexes.get(problem.pointer)
            field_pointer = pointer("Template") if index is None else pointer("TemplateFields", index, member)
            yield replace(problem, pointer=field_pointer)


def _problems_of(template: Template, values: Mapping[str, str], fonts: FontSet) -> tuple[InputProblem, ...]:
    try:
        render_proof(template, values, fonts=fonts)
    except ValuesInvalid as error:
        return error.problems
    except RenderingFailed as error:
        return (
            InputProblem("", "not_renderable", f"The template can't be rendered with its defaults: {error}"),
        )
    return ()


def _default_values(entries: Sequence[JsonObject]) -> Iterator[tuple[int, str, str]]:
    for index, entry in enumerate(entries):
        for member in DEFAULTS:
            if not is_blank(entry[member]):
                yield index, member, entry[member]


def _is_uploaded_picture(entry: JsonObject, value: str, template: Template) -> bool:
    return entry["SubType"] == "Upload" and value not in template.gallery


def _find_member(problem: InputProblem) -> str:
    return problem.pointer.rpartition("/")[2] if problem.pointer.startswith("/TemplateFields") else "Template"


def same_template(record: JsonObject, stored: JsonObject) -> bool:
    """An unchanged template is not checked again: its product must be archivable even if a font is missing."""
    return fingerprint(_split_parts(record)) == fingerprint(_split_parts(stored))


def _split_parts(record: JsonObject) -> JsonObject:
    return {name: record[name] for name in ("Template", "TemplateFields")}
