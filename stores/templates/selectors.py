"""Fonts and layouts of products, which are read and checked once for each product version and kept in memory, and
errors of the typesetter as errors of the service.
"""

import hashlib
import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

import orjson
from django.core.files.storage import default_storage

import printing
from fulfillment.core.db.prepared import fetch_row
from fulfillment.core.errors import Conflict, Fault, Invalid
from fulfillment.core.files.folders import TemporaryFiles
from fulfillment.core.files.storage import storage_errors
from fulfillment.core.files.stored import read_file
from printing.caches import WeightedCache
from printing.typesetting import (
    Field,
    FontSet,
    InputProblem,
    RenderingFailed,
    RenderingTimedOut,
    Template,
    TemplateInvalid,
    ValuesInvalid,
    parse_template,
    read_field,
    resolve_values,
)
from stores.templates.models import Font

logger = logging.getLogger("stores.proofs")

CACHE_BYTES = 128_000_000
# The weight of a layout in the cache without its pictures; it also limits the number of layouts.
LAYOUT_BYTES = 250_000
_fonts = TemporaryFiles("operator-fonts-")
# A subquery on the row `product`.
FIELDS = """
SELECT coalesce(json_agg(json_build_object('FieldName', field_name, 'Prompt', prompt, 'Type', type,
       'SubType', sub_type, 'Required', required, 'DefaultValue', default_value, 'OrgValue', org_value,
       'Choices', choices) ORDER BY position), '[]')::text
FROM stores_templatefield WHERE product_id = product.id
"""
# One statement, so that the template and its fields have the same version.
TEMPLATE = f"""
SELECT product.version, product.template::text, ({FIELDS}) FROM stores_product product WHERE product.id = %s
"""  # noqa: S608 - constant texts only
FIELDS_ALONE = f"SELECT ({FIELDS}) FROM stores_product product WHERE product.id = %s"  # noqa: S608 - the same
TOO_SLOW = (
    "These values take too long to be laid out. Send shorter texts, smaller pictures or a smaller"
    " PDF; the same values would fail again."
)


def font_set() -> FontSet:
    return font_set_of(tuple(font_file(font) for font in Font.objects.order_by("pk")))


def font_names() -> str:
    """The storage names of all operators' fonts, comma separated."""
    return ",".join(font_file(font) for font in Font.objects.order_by("pk"))


@lru_cache(maxsize=4)
def font_set_of(names: tuple[str, ...]) -> FontSet:
    """The shipped fonts and these stored font files."""
    with storage_errors():
        paths = [_local_name(name) for name in names]
    return FontSet.shipped().with_files(paths) if paths else FontSet.shipped()


def font_file(font: Font) -> str:
    return f"fonts/{font.sha256}{font.suffix}"


def _local_name(name: str) -> Path:
    try:
        return Path(default_storage.path(name))
    except NotImplementedError:
        return _fonts.path(Path(name).name, lambda: read_file(name))


@dataclass(frozen=True, slots=True)
class TemplateLayout:
    """`fingerprint` identifies everything that a rendering depends on except the values and the mark."""

    template: Template
    fields: tuple[Field, ...]
    fonts: FontSet
    fingerprint: bytes


class TemplateMissing(Conflict):
    code = "template_missing"

    def __init__(self) -> None:
        super().__init__("This product has no template: there is nothing to fill in.")


class TemplateUnusable(Conflict):
    """A stored template that the typesetter rejects, perhaps since an upgrade; its store must correct it."""

    code = "template_unusable"

    def __init__(self) -> None:
        super().__init__("The template of this product cannot be rendered; its store has to correct it.")


def _weigh_layout(layout: TemplateLayout) -> int:
    template = layout.template
    pictures = (*template.artwork.values(), *template.gallery.values())
    return LAYOUT_BYTES + sum(len(picture.data) for picture in pictures)


_layouts: WeightedCache[tuple[int, int, str], TemplateLayout] = WeightedCache(
    capacity=CACHE_BYTES, weight=_weigh_layout
)


def layout_of(product_id: int, version: int, font_names: str) -> TemplateLayout:
    """`font_names` are the storage names of all operators' fonts, comma separated."""
    layout = _layouts.get((product_id, version, font_names))
    if layout is None:
        stored_version, layout = _read_template(product_id, font_names)
        _layouts.put((product_id, stored_version, font_names), layout)
    return layout


def fields_of(product_id: int) -> tuple[Field, ...]:
    """The fields of a product, which may have no template."""
    row = fetch_row(FIELDS_ALONE, (product_id,))
    return tuple(read_field(entry) for entry in orjson.loads(row[0])) if row else ()


def options_of(fields: Sequence[Field], values: Mapping[str, object]) -> dict[str, str]:
    """The fields of the type Choice that have a value: what was sent, else their default."""
    options: dict[str, str] = {}
    for field in (candidate for candidate in fields if candidate.type == "Choice"):
        value = values.get(field.field_name)
        value = (field.org_value or field.default_value) if value is None else value
        if isinstance(value, str) and value.strip():
            options[field.field_name] = value
    return options


def resolve_samples(
    fields: Sequence[Field], samples: Mapping[str, str], gallery: Mapping[str, object]
) -> tuple[dict[str, str], Sequence[InputProblem]]:
    """The value of every field, and the problems of samples that cannot be printed."""
    try:
        return resolve_values(fields, samples, gallery), ()
    except ValuesInvalid as error:
        values = {
            field.field_name: samples.get(field.field_name) or field.org_value or field.default_value
            for field in fields
        }
        return {name: value.replace("\r\n", "\n") for name, value in values.items()}, error.problems


def template_digest(product_id: int) -> str:
    """Equal as long as template and fields are; other changes of the product give it another version only."""
    row: tuple[Any, ...] = fetch_row(TEMPLATE, (product_id,)) or (0, "", "")
    return hashlib.sha256(orjson.dumps(row[1:])).hexdigest()


def engine_files() -> list[Path]:
    """What proofs and findings are made with."""
    return [path for path in sorted(Path(printing.__path__[0]).rglob("*")) if path.suffix in {".py", ".typ"}]


@cache
def engine_version() -> bytes:
    """A digest of typesetter and print engine: a new version may draw or find differently."""
    digest = hashlib.blake2b(version_of("typst").encode(), digest_size=20)
    for path in engine_files():
        digest.update(path.name.encode() + path.read_bytes())
    return digest.digest()


def _read_template(product_id: int, font_names: str) -> tuple[int, TemplateLayout]:
    row = fetch_row(TEMPLATE, (product_id,))
    if row is None or row[1] is None:
        raise TemplateMissing
    version, template, entries = row
    fields = tuple(read_field(entry) for entry in orjson.loads(entries))
    fonts = font_set_of(tuple(font_names.split(",")) if font_names else ())
    try:
        parsed = parse_template(orjson.loads(template), fields, fonts)
    except TemplateInvalid as error:
        raise TemplateUnusable from error
    # Letters of an SVG fall back on any font.
    has_letters = any(b"text" in svg.data for svg in parsed.pictures if svg.media_type == "image/svg+xml")
    own = sorted(
        {
            face.path.name
            for face in fonts.faces
            if face.is_own and (has_letters or face.family in parsed.families)
        }
    )
    made_from = json.dumps([product_id, version, parsed.digest, own]).encode()
    fingerprint = hashlib.blake2b(engine_version() + made_from, digest_size=20).digest()
    return version, TemplateLayout(parsed, fields, fonts, fingerprint)


@contextmanager
def typesetting_errors() -> Iterator[None]:
    """Raises the service's error for an error of the typesetter."""
    try:
        yield
    except ValuesInvalid as error:
        raise values_invalid(error.problems) from error
    except RenderingTimedOut as error:
        # Not RenderersBusy: a retry with the same values would fail again and block a renderer for as long.
        raise Invalid.at("", "rendering_too_slow", TOO_SLOW) from error
    except RenderingFailed as error:
        logger.error("A template could not be rendered: %s", error)
        raise TemplateUnusable from error


def values_invalid(problems: Iterable[InputProblem]) -> Invalid:
    faults = [Fault(problem.pointer, problem.code, problem.message) for problem in problems]
    message = faults[0].message if len(faults) == 1 else f"{len(faults)} values cannot be printed."
    return Invalid(message, code="values_invalid", faults=faults)
