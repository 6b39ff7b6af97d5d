"""Template context of the editor page: the inputs of a draft with their errors."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from fulfillment.core.errors import Fault
from fulfillment.core.recorded_texts import translated
from printing.typesetting import Field
from printing.typesetting.fields import TYPES
from stores.editor.admin.actions import EditorState
from stores.editor.admin.forms import KINDS, box_inputs, describe_member, input_text, lower_first, page_inputs
from stores.editor.admin.requests import OpenDraft, designer_data, draft_as_json
from stores.editor.selectors import Draft, EditorContext

SAMPLES = {
    "Email": "dana@example.com",
    "Phone": "(303) 555-0142",
    "Url": "www.example.com",
    "Date": "2026-05-01",
    "Upload": "picture",
}


TYPE_WORDS = {
    "SingleLine": gettext_lazy("One line of text"),
    "MultiLine": gettext_lazy("Several lines of text"),
    "Email": gettext_lazy("E-mail address"),
    "Phone": gettext_lazy("Phone number"),
    "Url": gettext_lazy("Web address"),
    "Date": gettext_lazy("Date"),
    "Upload": gettext_lazy("Picture, sent by the customer"),
    "Gallery": gettext_lazy("Picture, chosen from the gallery"),
    "List": gettext_lazy("Choice from a list"),
}
FIELD_TYPES = [
    (f"{kind}:{sub_type}", TYPE_WORDS.get(sub_type, sub_type))
    for kind, names in TYPES.items()
    for sub_type in names
]
PARTS = {
    "TemplateFields": gettext_lazy("New field"),
    "Samples": gettext_lazy("Sample data"),
    "Artwork": gettext_lazy("Pictures"),
    "Gallery": gettext_lazy("Pictures"),
}


def page_context(opened: OpenDraft, faults: list[Fault]) -> dict[str, Any]:
    """The context of the page: inputs for browsers without JavaScript, data for the script."""
    editor, step = opened.editor, opened.step
    samples = sample_inputs(editor, step.draft, opened.samples, faults)
    return {
        "version": opened.version,
        "newest": editor.version,
        "step": step,
        "editor": editor_view_model(step, editor, faults),
        "samples": samples,
        "field_types": FIELD_TYPES,
        "draft": orjson.dumps(draft_as_json(step.draft)).decode(),
        "designer": {
            **designer_data(opened.product, editor, FIELD_TYPES),
            "draft": draft_as_json(step.draft),
            "version": opened.version,
            "samples": opened.samples,
            "faults": list_faults(faults, step.draft),
        },
    }


def read_inks(form: Mapping[str, str]) -> tuple[float, float, float, float] | None:
    """The percentages C, M, Y and K; None if one is not a number."""
    try:
        cyan, magenta, yellow, black = (round(float(form.get(ink, "")), 1) for ink in "CMYK")
    except (ValueError, OverflowError):
        return None
    inks = (cyan, magenta, yellow, black)
    return inks if all(0 <= percent <= 100 for percent in inks) else None


def make_samples(editor: EditorContext, draft: Draft) -> dict[str, str]:
    """The defaults of the fields, else examples of their types."""
    return {
        field.field_name: field.org_value or field.default_value or _sample(field, draft)
        for field in editor.fields
    }


def _sample(field: Field, draft: Draft) -> str:
    if field.choices:
        return field.choices[0]
    if field.sub_type == "Gallery":
        return next(iter(draft.gallery), "")
    return SAMPLES.get(field.sub_type) or field.prompt or field.field_name


def sample_inputs(
    editor: EditorContext, draft: Draft, samples: Mapping[str, str], faults: list[Fault]
) -> list[dict[str, Any]]:
    errors = _by_pointer(faults)
    return [
        {
            "name": f"sample:{field.field_name}",
            "id": f"sample-{number}",
            "pointer": f"/Samples/{field.field_name}",
            "label": field.prompt or field.field_name,
            "field": field,
            "choices": field.choices or (tuple(draft.gallery) if field.sub_type == "Gallery" else ()),
            "is_long": field.sub_type == "MultiLine",
            "value": samples.get(field.field_name, ""),
            "errors": errors.get(f"/Samples/{field.field_name}", []),
        }
        for number, field in enumerate(editor.fields)
    ]


def editor_view_model(step: EditorState, editor: EditorContext, faults: list[Fault]) -> dict[str, Any]:
    """The template context of a draft."""
    errors, families = _by_pointer(faults), sorted(editor.fonts.families)
    page_pointer = f"/Pages/{step.page}"

    def box_view(number: int, box: Any) -> dict[str, Any]:
        pointer = f"{page_pointer}/Boxes/{number}"
        return {
            "number": number,
            "box": box,
            "title": box_title(box),
            "kind": KINDS.get(box.get("Kind"), box.get("Kind")),
            "text": input_text(box.get("Text")),
            "where": pointer,
            "inputs": _with_errors(box_inputs(box, number, step.page, families), errors),
            "errors": _box_errors(errors, pointer),
            "is_open": number == step.box,
            "is_wrong": _has_errors_below(errors, pointer),
        }

    return {
        "page": step.open_page,
        "here": page_pointer,
        "page_inputs": _with_errors(page_inputs(step.open_page, step.page), errors),
        "background": step.open_page.get("Background") or "",
        "background_errors": errors.get(f"{page_pointer}/Background", []),
        "boxes": [box_view(number, box) for number, box in enumerate(step.boxes)],
        "kinds": {kind: lower_first(label) for kind, label in KINDS.items()},
        "fields": [field.field_name for field in editor.fields],
        "faults": list_faults(faults, step.draft),
        "pages": [
            {
                "number": number,
                "title": page.get("Background") or _("blank"),
                "is_wrong": _has_errors_below(errors, f"/Pages/{number}"),
            }
            for number, page in enumerate(step.draft.pages)
        ],
    }


def _with_errors(inputs: Any, errors: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"input": control, "errors": errors.get(control.pointer, [])} for control in inputs]


def _has_errors_below(errors: Mapping[str, Any], pointer: str) -> bool:
    return any(error.startswith(f"{pointer}/") for error in errors)


def list_faults(faults: Sequence[Fault], draft: Draft) -> list[dict[str, str]]:
    return [
        {
            "pointer": fault.pointer,
            "place": describe_place(fault.pointer, draft),
            "message": translated(fault.message),
        }
        for fault in faults
    ]


def describe_place(pointer: str, draft: Draft) -> str:
    """The place of a fault in the words of the page: "Page 1, box Name: width"."""
    part, *members = pointer.strip("/").split("/")
    if part == "TemplateFields":
        return str(PARTS[part])
    if part != "Pages" or not members or not members[0].isdecimal():
        return ": ".join(filter(None, [str(PARTS.get(part, part)), "/".join(members)]))
    number = int(members[0])
    place_name, members = _("Page %(number)s") % {"number": number + 1}, members[1:]
    if members[:1] == ["Boxes"] and len(members) > 1 and members[1].isdecimal():
        boxes = draft.pages[number].get("Boxes") if number < len(draft.pages) else None
        index = int(members[1])
        title = box_title(boxes[index]) if isinstance(boxes, list) and index < len(boxes) else str(index + 1)
        place_name = _("%(page)s, box %(title)s") % {"page": place_name, "title": title}
        members = members[2:]
    return f"{place_name}: {describe_member(members[0])}" if members else place_name


def box_title(box: Mapping[str, Any]) -> str:
    return input_text(box.get("Name")) or box.get("Field") or input_text(box.get("Text"))[:30] or _("empty")


def _box_errors(errors: Mapping[str, list[str]], pointer: str) -> list[str]:
    """Faults of the box itself or of the field it shows."""
    places = (pointer, f"{pointer}/Field", f"{pointer}/Text", f"{pointer}/Kind")
    return [message for pointer_below in places for message in errors.get(pointer_below, [])]


def _by_pointer(faults: list[Fault]) -> dict[str, list[str]]:
    errors: dict[str, list[str]] = {}
    for fault in faults:
        errors.setdefault(fault.pointer, []).append(translated(fault.message))
    return errors
