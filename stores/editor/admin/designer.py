"""The server's rules for the designer script: members, limits, kinds and fonts. The script has no rules itself."""

from collections.abc import Sequence
from typing import Any

from django.urls import reverse

from printing.typesetting.template import (
    BLEED_MM,
    BOX_LIMITS,
    BOXES_OF_A_PAGE,
    FIXED_TEXTS,
    LARGEST_OF_PAGE,
    NAME_LETTERS,
    PAGE_MM,
    PAGES,
    PLACE_OF_PAGE,
    SMALLEST_BOX,
    TEXT_LETTERS,
)
from stores.catalog.models import Product
from stores.editor.admin.forms import BOX_MEMBERS, KINDS, NEW_TEXT, PAGE_MEMBERS, Member, new_box
from stores.editor.selectors.drafts import EditorContext

ADDRESSES = ("template", "template_preview", "template_font", "template_color", "template_versions")


def designer_data(
    product: Product, editor: EditorContext, field_types: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    return {
        "product": str(product),
        "store": str(product.store),
        "fields": [
            {
                "name": field.field_name,
                "prompt": field.prompt or field.field_name,
                "type": field.type,
                "subType": field.sub_type,
                "required": field.required,
                "choices": field.choices,
            }
            for field in editor.fields
        ],
        "fieldTypes": field_types,
        "kinds": KINDS,
        "fixedKinds": list(FIXED_TEXTS),
        "newBoxes": {kind: {**new_box(kind), "Text": NEW_TEXT[kind]} for kind in KINDS},
        "families": sorted(editor.fonts.families),
        "pageMembers": [_member(member) for member in PAGE_MEMBERS],
        "boxMembers": [_member(member) for member in BOX_MEMBERS],
        "limits": {
            "box": BOX_LIMITS,
            "page": {"WidthMM": PAGE_MM, "HeightMM": PAGE_MM, "BleedMM": BLEED_MM},
            "placeOfPage": PLACE_OF_PAGE,
            "largestOfPage": LARGEST_OF_PAGE,
            "smallestBox": SMALLEST_BOX,
            "pages": PAGES,
            "boxes": BOXES_OF_A_PAGE,
            "name": NAME_LETTERS,
            "text": TEXT_LETTERS,
        },
        "safeMM": editor.rules.safe_mm,
        "addresses": {
            "product": reverse("admin:stores_product_change", args=[product.pk]),
            **{name: reverse(f"admin:stores_product_{name}", args=[product.pk]) for name in ADDRESSES},
        },
    }


def _member(member: Member) -> dict[str, Any]:
    return {
        "name": member.name,
        "label": member.label,
        "form": member.form,
        "unset": member.unset,
        "kinds": sorted(member.kinds),
        "choices": member.choices,
        "step": member.step,
    }
