"""Reads drafts from the form or the designer script, and gives that script the server's rules."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.urls import reverse

from printing.typesetting import Field
from printing.typesetting.parsing import ARTWORKS
from printing.typesetting.template import (
    BLEED_MM,
    BOX_LIMITS,
    BOXES_OF_A_PAGE,
    FIXED_TEXTS,
    MAX_OF_PAGE,
    NAME_LETTERS,
    PAGE_MM,
    PAGES,
    PLACE_OF_PAGE,
    SMALLEST_BOX,
    TEXT_LETTERS,
)
from stores.catalog.models import Product
from stores.catalog.records.field_specs import MAX_CHOICES, MAX_FIELDS
from stores.editor.admin.actions import EditorState
from stores.editor.admin.forms import (
    BOX_MEMBERS,
    KINDS,
    NEW_TEXT,
    PAGE_MEMBERS,
    BoxMember,
    new_box,
    read_page,
)
from stores.editor.selectors import Draft, EditorContext, load_editor_context

TEXTS_OF_FIELD = ("FieldName", "Prompt", "Type", "SubType", "DefaultValue", "OrgValue")
MAX_NUMBER_LENGTH = 9
# How many parts of a kind a draft may have: one that is wrong by some is shown with its faults, and 60,000 would be a
# page of 120 MB.
MOST = {
    "Pages": 2 * PAGES,
    "Boxes": 2 * BOXES_OF_A_PAGE,
    "Artwork": 2 * ARTWORKS,
    "Gallery": 2 * ARTWORKS,
    "NewFields": MAX_FIELDS,
    "Choices": MAX_CHOICES,
}
DESIGNER_LIMITS = {
    "box": BOX_LIMITS,
    "page": {"WidthMM": PAGE_MM, "HeightMM": PAGE_MM, "BleedMM": BLEED_MM},
    "placeOfPage": PLACE_OF_PAGE,
    "largestOfPage": MAX_OF_PAGE,
    "smallestBox": SMALLEST_BOX,
    "pages": PAGES,
    "boxes": BOXES_OF_A_PAGE,
    "name": NAME_LETTERS,
    "text": TEXT_LETTERS,
}
ADDRESSES = ("template", "template_preview", "template_font", "template_color", "template_versions")


@dataclass(frozen=True, slots=True)
class OpenDraft:
    """A draft on the page of its product. `editor` knows the new fields of the draft, too.

    `version` is the product version the draft is based on, `action` the pressed button.
    """

    request: HttpRequest
    product: Product
    editor: EditorContext
    version: int
    step: EditorState
    samples: dict[str, str]
    action: str = ""


def read_draft(request: HttpRequest, product: Product) -> OpenDraft:
    """Reads the draft, and the inputs of the open page if there are any."""
    form = request.POST
    try:
        draft = orjson.loads(form.get("draft", ""))
        version, number = int(form.get("version", "")), int(form.get("page", ""))
        pages = [_plain_page(page) for page in _few(draft, "Pages")]
        pictures = {part: _plain_names(_few(draft, part)) for part in ("Artwork", "Gallery")}
        fields = [_plain_field(entry) for entry in _few(draft, "NewFields")]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadRequest(
            "The form arrived incomplete, so nothing was saved. Load the page again and repeat the change."
        ) from error
    if not 0 <= number < len(pages):
        raise BadRequest(
            "The form names a page that the template does not have. Load the page again and repeat the change."
        )
    pages[number] = read_page(pages[number], form)
    samples = {name.removeprefix("sample:"): str(form[name]) for name in form if name.startswith("sample:")}
    step = EditorState(Draft(pages, pictures["Artwork"], pictures["Gallery"], fields), number)
    editor = load_editor_context(product.pk).with_fields(fields)
    return OpenDraft(request, product, editor, version, step, samples, form.get("do", ""))


def read_new_field(request: HttpRequest) -> dict[str, Any]:
    """An entry of TemplateFields from the inputs of a new field."""
    form = request.POST
    kind, _, sub_type = form.get("new-field-type", "").partition(":")
    choices = [line.strip() for line in form.get("new-field-choices", "").splitlines() if line.strip()]
    name = form.get("new-field-name", "").strip()
    return {
        "FieldName": name,
        "Prompt": form.get("new-field-prompt", "").strip() or name,
        "Type": kind,
        "SubType": sub_type,
        "Required": bool(form.get("new-field-required")),
        **({"Choices": choices} if choices else {}),
    }


def read_number(text: str, otherwise: int, most: int) -> int:
    is_number = text.isdecimal() and len(text) <= MAX_NUMBER_LENGTH
    return min(int(text), most) if is_number and int(text) else otherwise


def read_hidden_boxes(request: HttpRequest) -> frozenset[int]:
    """The indexes of the hidden boxes of the open page."""
    places = request.POST.get("hidden", "").split(",")
    return frozenset(int(index) for index in places if index.isdecimal() and len(index) <= MAX_NUMBER_LENGTH)


def draft_as_json(draft: Draft) -> dict[str, Any]:
    return {
        "Pages": draft.pages,
        "Artwork": draft.artwork,
        "Gallery": draft.gallery,
        "NewFields": draft.new_fields,
    }


def _few(owner: Any, part: str) -> Any:
    entries = () if owner.get(part) is None else owner[part]
    if len(entries) > MOST[part]:
        raise ValueError(part)
    return entries


def _plain_page(page: Any) -> dict[str, Any]:
    boxes = [dict(box) for box in _few(page, "Boxes")]
    names = [page.get("Background"), *(box.get(member) for box in boxes for member in ("Kind", "Field"))]
    if not all(isinstance(name, str | None) for name in names):
        raise TypeError("A name in the draft is no text.")
    return {**page, "Boxes": boxes}


def _plain_names(names: Any) -> dict[str, str]:
    return {str(name): str(digest) for name, digest in names.items()}


def _plain_field(entry: Any) -> dict[str, Any]:
    """Whether the values are allowed is checked where the product is saved."""
    texts = {name: entry.get(name) or "" for name in TEXTS_OF_FIELD}
    choices = list(_few(entry, "Choices"))
    if not all(isinstance(text, str) for text in (*texts.values(), *choices)):
        raise TypeError("A text of a new field is none.")
    return {**texts, "Required": entry.get("Required") is True, "Choices": choices}


def _field(field: Field) -> dict[str, Any]:
    return {
        "name": field.field_name,
        "prompt": field.prompt or field.field_name,
        "type": field.type,
        "subType": field.sub_type,
        "required": field.required,
        "choices": field.choices,
    }


def designer_data(
    product: Product, editor: EditorContext, field_types: Sequence[tuple[str, Any]]
) -> dict[str, Any]:
    return {
        "product": str(product),
        "store": str(product.store),
        "fields": [_field(field) for field in editor.fields],
        "fieldTypes": field_types,
        "kinds": KINDS,
        "fixedKinds": list(FIXED_TEXTS),
        "newBoxes": {kind: {**new_box(kind), "Text": NEW_TEXT[kind]} for kind in KINDS},
        "families": sorted(editor.fonts.families),
        "pageMembers": [_member(member) for member in PAGE_MEMBERS],
        "boxMembers": [_member(member) for member in BOX_MEMBERS],
        "limits": DESIGNER_LIMITS,
        "safeMM": editor.rules.safe_mm,
        "addresses": {
            "product": reverse("admin:stores_product_change", args=[product.pk]),
            **{name: reverse(f"admin:stores_product_{name}", args=[product.pk]) for name in ADDRESSES},
        },
    }


def _member(member: BoxMember) -> dict[str, Any]:
    words = {"label": str(member.label), "unset": str(member.unset)}
    return {**member._asdict(), **words, "kinds": sorted(member.kinds)}
