"""The editor's buttons: each returns a changed draft. An action out of range changes nothing."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from printing.typesetting.template import FIXED_TEXTS
from stores.editor.admin.forms import KINDS, NEW_TEXT, new_box
from stores.editor.selectors import Draft, EditorContext


@dataclass(frozen=True, slots=True)
class EditorState:
    """A draft, its open page, and the box to select next."""

    draft: Draft
    page: int
    box: int | None = None

    @property
    def open_page(self) -> dict[str, Any]:
        page: dict[str, Any] = self.draft.pages[self.page]
        return page

    @property
    def boxes(self) -> list[Any]:
        return list(self.open_page.get("Boxes") or [])

    def with_field(self, entry: dict[str, Any]) -> "EditorState":
        return replace(self, draft=replace(self.draft, new_fields=[*self.draft.new_fields, entry]))


def apply_action(step: EditorState, action: str, editor: EditorContext) -> EditorState:
    """`action` is the button's value: a name and, behind a colon, what it is about."""
    name, _, about = action.partition(":")
    apply = STEPS.get(name)
    return apply(step, about, editor) if apply else step


def _go(step: EditorState, about: str, editor: EditorContext) -> EditorState:
    number = int(about) if _is_number(about) else step.page
    return replace(step, page=min(number, len(step.draft.pages) - 1), box=None)


def _add_page(step: EditorState, about: str, editor: EditorContext) -> EditorState:
    size = {
        name: step.open_page[name] for name in ("WidthMM", "HeightMM", "BleedMM") if name in step.open_page
    }
    at = step.page + 1
    pages = [*step.draft.pages[:at], {**size, "Boxes": []}, *step.draft.pages[at:]]
    return EditorState(replace(step.draft, pages=pages), at)


def _remove_page(step: EditorState, about: str, editor: EditorContext) -> EditorState:
    if len(step.draft.pages) == 1:
        return step
    pages = [page for number, page in enumerate(step.draft.pages) if number != step.page]
    return EditorState(replace(step.draft, pages=pages), min(step.page, len(pages) - 1))


def _move_page(by: int) -> Callable[[EditorState, str, EditorContext], EditorState]:
    def move(step: EditorState, about: str, editor: EditorContext) -> EditorState:
        to = step.page + by
        if not 0 <= to < len(step.draft.pages):
            return step
        pages = list(step.draft.pages)
        pages.insert(to, pages.pop(step.page))
        return EditorState(replace(step.draft, pages=pages), to)

    return move


def _add_box(step: EditorState, about: str, editor: EditorContext) -> EditorState:
    """The new box shows a field of its type that no box shows yet, if there is one."""
    kind = about if about in KINDS else "Text"
    used = {box.get("Field") for page in step.draft.pages for box in page.get("Boxes") or []}
    fitting = [
        field
        for field in editor.fields
        if kind not in FIXED_TEXTS and (field.type == "Image") == (kind == "Image")
    ]
    free = [field.field_name for field in fitting if field.field_name not in used]
    box = new_box(kind)
    if free or fitting:
        box["Field"] = free[0] if free else fitting[0].field_name
    else:
        box["Text"] = NEW_TEXT[kind]
    return _with_boxes(step, [*step.boxes, box], len(step.boxes))


def _copy_box(step: EditorState, about: str, editor: EditorContext) -> EditorState:
    if (at := _place(step, about)) is None:
        return step
    copied = deepcopy(step.boxes[at])
    for name in ("X", "Y"):
        if isinstance(copied.get(name), int | float):
            copied[name] = round(copied[name] + 3, 3)
    return _with_boxes(step, [*step.boxes[: at + 1], copied, *step.boxes[at + 1 :]], at + 1)


def _remove_box(step: EditorState, about: str, editor: EditorContext) -> EditorState:
    if (at := _place(step, about)) is None:
        return step
    boxes = [box for number, box in enumerate(step.boxes) if number != at]
    return _with_boxes(step, boxes, min(at, len(boxes) - 1) if boxes else None)


def _move_box(by: int) -> Callable[[EditorState, str, EditorContext], EditorState]:
    def move(step: EditorState, about: str, editor: EditorContext) -> EditorState:
        at = _place(step, about)
        if at is None or not 0 <= at + by < len(step.boxes):
            return step
        boxes = step.boxes
        boxes.insert(at + by, boxes.pop(at))
        return _with_boxes(step, boxes, at + by)

    return move


def _remove_picture(part: str) -> Callable[[EditorState, str, EditorContext], EditorState]:
    def remove(step: EditorState, about: str, editor: EditorContext) -> EditorState:
        pictures: Any = {name: digest for name, digest in getattr(step.draft, part).items() if name != about}
        return replace(step, draft=replace(step.draft, **{part: pictures}))

    return remove


def _place(step: EditorState, about: str) -> int | None:
    return int(about) if _is_number(about) and int(about) < len(step.boxes) else None


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) < 10


def _with_boxes(step: EditorState, boxes: list[Any], box: int | None) -> EditorState:
    pages = list(step.draft.pages)
    pages[step.page] = {**step.open_page, "Boxes": boxes}
    return EditorState(replace(step.draft, pages=pages), step.page, box)


STEPS: dict[str, Callable[[EditorState, str, EditorContext], EditorState]] = {
    "page": _go,
    "add-page": _add_page,
    "remove-page": _remove_page,
    "page-earlier": _move_page(-1),
    "page-later": _move_page(1),
    "add-box": _add_box,
    "copy-box": _copy_box,
    "remove-box": _remove_box,
    "box-up": _move_box(-1),
    "box-down": _move_box(1),
    "remove-artwork": _remove_picture("artwork"),
    "remove-gallery": _remove_picture("gallery"),
}
