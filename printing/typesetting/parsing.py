"""Parses the JSON of a template."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from printing.typesetting.artwork import ArtworkInvalid, read_artwork
from printing.typesetting.errors import InputProblem, TemplateInvalid
from printing.typesetting.fields import Field
from printing.typesetting.fonts import FontSet
from printing.typesetting.reading import ObjectReader
from printing.typesetting.template import (
    BLEED_MM,
    BOX_LIMITS,
    BOXES_OF_A_PAGE,
    CMYK,
    FIXED_TEXTS,
    MAX_OF_PAGE,
    NAME_LETTERS,
    PAGE_MM,
    PAGES,
    PLACE_OF_PAGE,
    RGB,
    SMALLEST_BOX,
    TEXT_LETTERS,
    Artwork,
    Box,
    Page,
    Template,
)

KINDS = ("Text", "Image", "QRCode", "Code128", *FIXED_TEXTS)
TEXT_FITS = ("shrink", "wrap", "clip")
IMAGE_FITS = ("contain", "cover", "stretch")
ARTWORKS = 64
ALL_ARTWORK_BYTES = 40_000_000
PROPORTION_TOLERANCE = 0.02
MEDIA_TYPES = {
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".pdf": "application/pdf",
}


def parse_template(json_value: object, fields: Sequence[Field], fonts: FontSet | None = None) -> Template:
    """Check a template against its product's fields; raise TemplateInvalid with every problem found.

    Without `fonts` the shipped families are the ones allowed.
    """
    problems: list[InputProblem] = []
    root = ObjectReader(json_value, (), problems)
    artwork = _read_pictures(root, "Artwork")
    gallery = _read_pictures(root, "Gallery")
    pages = _read_pages(root, artwork, fields, fonts)
    root.refuse_unknown()
    if sum(len(picture.data) for picture in (*artwork.values(), *gallery.values())) > ALL_ARTWORK_BYTES:
        root.note(
            "artwork_too_large", f"All artwork together has at most {ALL_ARTWORK_BYTES:,} bytes.", "Artwork"
        )
    if problems:
        raise TemplateInvalid(problems)
    return Template(_digest_json(json_value), pages, artwork, gallery, _list_families(pages))


def parse_draft(
    pages: object,
    artwork: Mapping[str, Artwork],
    gallery: Mapping[str, Artwork],
    fields: Sequence[Field],
    fonts: FontSet,
) -> Template:
    """Does as `parse_template` for pages that are edited often and whose pictures have been read already."""
    problems: list[InputProblem] = []
    parsed_pages = _read_pages(ObjectReader({"Pages": pages}, (), problems), artwork, fields, fonts)
    if problems:
        raise TemplateInvalid(problems)
    return Template(_digest_json(pages), parsed_pages, artwork, gallery, _list_families(parsed_pages))


def _read_pages(
    root: ObjectReader, artwork: Mapping[str, Artwork], fields: Sequence[Field], fonts: FontSet | None
) -> tuple[Page, ...]:
    kinds_of_fields = {field.field_name: field.type for field in fields}
    families = (fonts or FontSet.shipped()).families
    return tuple(
        _read_page(page, artwork, kinds_of_fields, families)
        for page in root.items("Pages", PAGES, required=True)
    )


def _list_families(pages: Sequence[Page]) -> frozenset[str]:
    return frozenset(box.font for page in pages for box in page.boxes if box.kind == "Text")


def _digest_json(json_value: object) -> str:
    canonical = json.dumps(json_value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def _read_pictures(root: ObjectReader, key: str) -> dict[str, Artwork]:
    value = root.raw(key)
    if value is None:
        return {}
    folder = root.inner(value, key)
    if len(folder.value) > ARTWORKS:
        folder.note("too_many", f"At most {ARTWORKS} entries are allowed.")
        return {}
    pictures = {}
    for name, entry in folder.value.items():
        picture = folder.inner(entry, name)
        media_type, data = picture.raw("MediaType"), picture.raw("Data")
        picture.refuse_unknown()
        if not picture.valid:
            continue
        try:
            pictures[name] = read_artwork(name, media_type, data)
        except ArtworkInvalid as error:
            picture.note(
                error.code, str(error), "MediaType" if error.code == "unknown_media_type" else "Data"
            )
    return pictures


def _read_page(
    page: ObjectReader, artwork: Mapping[str, Artwork], kinds: Mapping[str, str], families: frozenset[str]
) -> Page:
    width, height = page.number("WidthMM", PAGE_MM), page.number("HeightMM", PAGE_MM)
    bleed = page.number("BleedMM", BLEED_MM, 0.0)
    background = page.raw("Background")
    if background is not None and (not isinstance(background, str) or background not in artwork):
        page.note("unknown_artwork", "Background must be a name in Artwork.", "Background")
        background = None
    if isinstance(background, str):
        _check_proportions(page, artwork[background], (width + 2 * bleed) / (height + 2 * bleed))
    boxes = tuple(
        _read_box(box, width, height, kinds, families) for box in page.items("Boxes", BOXES_OF_A_PAGE)
    )
    page.refuse_unknown()
    return Page(width, height, bleed, background if isinstance(background, str) else None, boxes)


def _check_proportions(page: ObjectReader, picture: Artwork, proportion: float) -> None:
    if picture.height and abs(picture.width / picture.height / proportion - 1) > PROPORTION_TOLERANCE:
        page.note(
            "wrong_proportions",
            f"The artwork is {picture.width:g} by {picture.height:g}; it must cover the page and its bleed,"
            f" a width of {proportion:.3f} times its height.",
            "Background",
        )


def _read_box(
    box: ObjectReader, width: float, height: float, kinds: Mapping[str, str], families: frozenset[str]
) -> Box:
    kind = box.choice("Kind", KINDS)
    if box.value.get("Kind") not in KINDS:
        return Box("Text", None, None, 0, 0, 1, 1)
    field, text = _read_fixed(box, kind) if kind in FIXED_TEXTS else _read_content(box, kind, kinds)
    extras = _read_extras(box, kind, families)
    # For designers: the name of the box, and whether it is locked. Neither is printed.
    box.text("Name", NAME_LETTERS)
    box.flag("Locked")
    # Words of the Postal Service are in black alone, whatever the preset converts.
    usual = CMYK(0, 0, 0, 100) if kind in FIXED_TEXTS else RGB("#000000")
    parsed_box = Box(
        kind="Text" if kind in FIXED_TEXTS else kind,
        role=kind if kind in FIXED_TEXTS else "",
        field=field,
        text=text,
        x=box.number("X", _scale_limits(PLACE_OF_PAGE, width)),
        y=box.number("Y", _scale_limits(PLACE_OF_PAGE, height)),
        width=box.number("Width", (SMALLEST_BOX, MAX_OF_PAGE * width)),
        height=box.number("Height", (SMALLEST_BOX, MAX_OF_PAGE * height)),
        rotation=box.number("Rotation", BOX_LIMITS["Rotation"], 0.0),
        color=box.color("Color", usual) or usual,
        background=box.color("Background", None),
        **extras,
    )
    box.refuse_unknown()
    return parsed_box


def _scale_limits(limits: tuple[float, float], length: float) -> tuple[float, float]:
    return limits[0] * length, limits[1] * length


def _read_content(box: ObjectReader, kind: str, kinds: Mapping[str, str]) -> tuple[str | None, str | None]:
    field, text = box.raw("Field"), box.text("Text", TEXT_LETTERS)
    if (field is None) == (box.raw("Text") is None):
        if box.valid:
            box.note("required", "A box needs a Field, or a fixed Text, and not both.", "Field")
        return None, None
    if field is None:
        if kind == "Image":
            box.note("not_allowed", "A box of kind Image needs a Field.", "Text")
        return None, text
    if not isinstance(field, str) or field not in kinds:
        names = ", ".join(kinds) or "none"
        box.note("unknown_field", f"Field must be one of the product's fields: {names}.", "Field")
        return None, None
    if (kinds[field] == "Image") != (kind == "Image"):
        box.note(
            "wrong_kind",
            f"The field {field} is of type {kinds[field]}; a box of kind {kind} can't show it.",
            "Kind",
        )
    return field, None


def _read_fixed(box: ObjectReader, kind: str) -> tuple[None, str]:
    """The fixed text of an EDDM box: the standard words by default."""
    if box.raw("Field") is not None:
        box.note("not_allowed", f"A box of kind {kind} has a fixed Text.", "Field")
    text = box.text("Text", TEXT_LETTERS)
    return None, FIXED_TEXTS[kind] if text is None else text


def _read_extras(box: ObjectReader, kind: str, families: frozenset[str]) -> dict[str, Any]:
    if kind == "Text" or kind in FIXED_TEXTS:
        return _read_type(box, families)
    if kind == "Image":
        return {
            "fit": box.choice("Fit", IMAGE_FITS, "contain"),
            "radius": box.number("Radius", BOX_LIMITS["Radius"], 0.0),
        }
    return {}


def _read_type(box: ObjectReader, families: frozenset[str]) -> dict[str, Any]:
    size = box.number("Size", BOX_LIMITS["Size"])
    smallest = box.number("MinimumSize", BOX_LIMITS["MinimumSize"], size)
    if smallest > size:
        box.note("out_of_range", "MinimumSize may not be larger than Size.", "MinimumSize")
    return {
        "font": box.choice("Font", families, "Lato"),
        "weight": int(box.number("Weight", BOX_LIMITS["Weight"], 400.0)),
        "italic": box.flag("Italic"),
        "size": size,
        "minimum_size": smallest,
        "tracking": box.number("Tracking", BOX_LIMITS["Tracking"], 0.0),
        "align": box.choice("Align", ("left", "center", "right"), "left"),
        "vertical_align": box.choice("VerticalAlign", ("top", "middle", "bottom"), "top"),
        "line_spacing": box.number("LineSpacing", BOX_LIMITS["LineSpacing"], 1.2),
        "fit": box.choice("Fit", TEXT_FITS, "shrink"),
    }


def load_template_folder(folder: Path) -> dict[str, Any]:
    """Assemble template.json and the artwork files beside it (gallery pictures in `gallery/`) to one JSON value."""
    template: dict[str, Any] = json.loads((folder / "template.json").read_text("utf-8"))
    template["Artwork"] = {path.name: _read_entry(path) for path in _artwork_files(folder)}
    gallery = folder / "gallery"
    if gallery.is_dir():
        template["Gallery"] = {path.stem: _read_entry(path) for path in _artwork_files(gallery)}
    return template


def load_fields(folder: Path) -> tuple[Field, ...]:
    """Read fields.json, an array of the contract's TemplateField objects with Choices where needed."""
    return tuple(read_field(entry) for entry in json.loads((folder / "fields.json").read_text("utf-8")))


def load_sample(folder: Path) -> dict[str, str]:
    """Read sample.json, values that show the template at its best."""
    sample: dict[str, str] = json.loads((folder / "sample.json").read_text("utf-8"))
    return sample


def read_field(entry: dict[str, Any]) -> Field:
    return Field(
        field_name=entry["FieldName"],
        prompt=entry.get("Prompt") or "",
        type=entry.get("Type") or "Text",
        sub_type=entry.get("SubType") or "SingleLine",
        required=bool(entry.get("Required")),
        default_value=entry.get("DefaultValue") or "",
        org_value=entry.get("OrgValue") or "",
        choices=tuple(entry.get("Choices") or ()),
    )


def _artwork_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix in MEDIA_TYPES)


def _read_entry(path: Path) -> dict[str, str]:
    media_type = MEDIA_TYPES[path.suffix]
    if media_type == "image/svg+xml":
        return {"MediaType": media_type, "Data": path.read_text("utf-8")}
    return {"MediaType": media_type, "Data": base64.b64encode(path.read_bytes()).decode()}
