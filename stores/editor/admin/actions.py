"""The editor's buttons: each returns a changed draft. An action out of range changes nothing."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts.callers import Caller
from fulfillment.core.errors import DomainError, Fault
from fulfillment.core.recorded_texts import translated
from printing.typesetting import Artwork
from printing.typesetting.artwork import ARTWORK_BYTES
from printing.typesetting.parsing import MEDIA_TYPES
from printing.typesetting.template import FIXED_TEXTS
from stores.catalog.models import Product
from stores.concurrency_limits import PICTURES
from stores.editor.admin.forms import KINDS, NEW_TEXT, new_box
from stores.editor.selectors import Draft, EditorContext, find_pictures
from stores.editor.services.drafts import store_artwork
from stores.editor.services.previews import (
    RESHAPABLE,
    explain_shape,
    has_shape_of,
    reshape_background,
    size_with_bleed,
)

RESHAPING = frozenset({"crop-background", "fit-background", "keep-as-picture"})


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
    number = step.page + 1
    pages = [*step.draft.pages[:number], {**size, "Boxes": []}, *step.draft.pages[number:]]
    return EditorState(replace(step.draft, pages=pages), number)


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
    if (index := _place(step, about)) is None:
        return step
    copied = deepcopy(step.boxes[index])
    for name in ("X", "Y"):
        if isinstance(copied.get(name), int | float):
            copied[name] = round(copied[name] + 3, 3)
    return _with_boxes(step, [*step.boxes[: index + 1], copied, *step.boxes[index + 1 :]], index + 1)


def _remove_box(step: EditorState, about: str, editor: EditorContext) -> EditorState:
    if (index := _place(step, about)) is None:
        return step
    boxes = [box for number, box in enumerate(step.boxes) if number != index]
    return _with_boxes(step, boxes, min(index, len(boxes) - 1) if boxes else None)


def _move_box(by: int) -> Callable[[EditorState, str, EditorContext], EditorState]:
    def move(step: EditorState, about: str, editor: EditorContext) -> EditorState:
        index = _place(step, about)
        if index is None or not 0 <= index + by < len(step.boxes):
            return step
        boxes = step.boxes
        boxes.insert(index + by, boxes.pop(index))
        return _with_boxes(step, boxes, index + by)

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


class PictureUploads:
    """Adds uploaded pictures to a draft; each method returns the next state.

    `pending` describes a picture that waits for a decision; `taken` names a new picture of the gallery and says why it
    is there. Raises DomainError for a picture that cannot be stored.
    """

    def __init__(self, product: Product, request: HttpRequest) -> None:
        self.product, self.request = product, request
        self.pending: dict[str, Any] = {}
        self.taken: dict[str, str] = {}

    def take(self, step: EditorState, action: str, editor: EditorContext) -> EditorState:
        return self.upload(step) if action == "upload" else self.decide(step, action, editor)

    def upload(self, step: EditorState) -> EditorState:
        file = self.request.FILES.get("file")
        if file is None:
            raise _artwork_error("required", "Choose a file first.")
        with PICTURES.slot(Caller.on_pages(self.request.user).key):
            artwork = self._store(PurePath(file.name or "picture").name[:100], file.read(ARTWORK_BYTES + 1))
        use = self.request.POST.get("use", "")
        if use == "gallery":
            return self.as_picture(step, artwork)
        has_shape = has_shape_of(artwork, step.open_page)
        if use == "background" and size_with_bleed(step.open_page) is None:
            return set_background(step, artwork)
        if has_shape:
            # The size of a PDF is known only after rendering, so it becomes a background only on request.
            is_chosen = artwork.height or use
            return set_background(step, artwork) if is_chosen else self.as_picture(step, artwork)
        reason = explain_shape(artwork, step.open_page)
        if use != "background":
            return self.as_picture(step, artwork, reason)
        self.pending = {
            "name": artwork.name,
            "digest": artwork.digest,
            "message": _("%(reason)s The background of the page is unchanged.")
            % {"reason": translated(reason)},
            "is_reshapable": artwork.media_type in RESHAPABLE,
        }
        return step

    def decide(self, step: EditorState, action: str, editor: EditorContext) -> EditorState:
        """Applies the user's choice for the pending picture."""
        name = self.request.POST.get("pending-name", "")[:100]
        pictures = find_pictures(editor, {name: self.request.POST.get("pending-digest", "")})
        if name not in pictures:
            raise _artwork_error("artwork_gone", f"{name} is no longer there; upload it again.")
        artwork = replace(pictures[name], name=name)
        if action == "keep-as-picture":
            return self.as_picture(step, artwork)
        crop = action == "crop-background"
        content = reshape_background(artwork=artwork, page=step.open_page, crop=crop)
        # Under a new name, because another page may use the original picture.
        path = PurePath(name)
        shaped = f"{path.stem[:80]}-{'cropped' if crop else 'fitted'}{path.suffix}"
        return set_background(step, self._store(shaped, content))

    def as_picture(self, step: EditorState, artwork: Artwork, reason: str = "") -> EditorState:
        name = PurePath(artwork.name).stem
        self.taken = {
            "name": name,
            "message": translated(f"{reason} It is in the gallery as {name}.".strip()),
        }
        gallery = {**step.draft.gallery, name: artwork.digest}
        return EditorState(replace(step.draft, gallery=gallery), step.page)

    def _store(self, name: str, content: bytes) -> Artwork:
        return store_artwork(
            product=self.product,
            user_id=self.request.user.pk,
            name=name,
            media_type=MEDIA_TYPES.get(PurePath(name).suffix.lower(), ""),
            content=content,
        )


def set_background(step: EditorState, artwork: Artwork) -> EditorState:
    pages = list(step.draft.pages)
    pages[step.page] = {**step.open_page, "Background": artwork.name}
    pictures = {**step.draft.artwork, artwork.name: artwork.digest}
    return EditorState(replace(step.draft, pages=pages, artwork=pictures), step.page)


def _artwork_error(code: str, message: str) -> DomainError:
    return DomainError(message, faults=[Fault("/Artwork", code, message)])
