"""Uploads to the template editor, with choices for pictures of another shape than the page."""

from dataclasses import replace
from pathlib import PurePath
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _

from fulfillment.core.errors import DomainError, Fault
from printing.typesetting import Artwork
from printing.typesetting.artwork import ARTWORK_BYTES
from printing.typesetting.folder import MEDIA_TYPES
from stores.catalog.models import Product
from stores.editor.admin.actions import EditorState
from stores.editor.selectors import EditorContext, pictures_of
from stores.editor.services.drafts import store_artwork
from stores.editor.services.previews import (
    RESHAPABLE,
    has_shape_of,
    page_proportion,
    reshape_background,
    wrong_shape,
)

RESHAPING = frozenset({"crop-background", "fit-background", "keep-as-picture"})


class PictureUploads:
    """Each method gives the next state, with `pending` where a picture waits for a decision, and with `taken`, the
    name of a picture in the gallery and why it went there.

    Raises DomainError for a picture that cannot be kept.
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
            raise _refused("required", "Choose a file first.")
        artwork = self._store(PurePath(file.name or "picture").name[:100], file.read(ARTWORK_BYTES + 1))
        use = self.request.POST.get("use", "")
        if use == "gallery":
            return self.as_picture(step, artwork)
        has_shape = has_shape_of(artwork, step.open_page)
        if use == "background" and page_proportion(step.open_page) is None:
            return as_background(step, artwork)
        if has_shape:
            # The size of a PDF is known only after rendering, so it becomes a background only on request.
            is_chosen = artwork.height or use
            return as_background(step, artwork) if is_chosen else self.as_picture(step, artwork)
        reason = wrong_shape(artwork, step.open_page) if page_proportion(step.open_page) else ""
        if use != "background":
            return self.as_picture(step, artwork, reason)
        self.pending = {
            "name": artwork.name,
            "digest": artwork.digest,
            "message": _("%(reason)s The background of the page is unchanged.") % {"reason": reason},
            "is_reshapable": artwork.media_type in RESHAPABLE,
        }
        return step

    def decide(self, step: EditorState, action: str, editor: EditorContext) -> EditorState:
        """Applies the user's choice for the pending picture."""
        name = self.request.POST.get("pending-name", "")[:100]
        found = pictures_of(editor, {name: self.request.POST.get("pending-digest", "")})
        if name not in found:
            raise _refused("artwork_gone", f"{name} is no longer there; upload it again.")
        artwork = replace(found[name], name=name)
        if action == "keep-as-picture":
            return self.as_picture(step, artwork)
        crop = action == "crop-background"
        content = reshape_background(artwork=artwork, page=step.open_page, crop=crop)
        # Under a new name, because another page may use the original picture.
        path = PurePath(name)
        shaped = f"{path.stem[:80]}-{'cropped' if crop else 'fitted'}{path.suffix}"
        return as_background(step, self._store(shaped, content))

    def as_picture(self, step: EditorState, artwork: Artwork, reason: str = "") -> EditorState:
        name = PurePath(artwork.name).stem
        self.taken = {"name": name, "message": f"{reason} It is in the gallery as {name}.".strip()}
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


def as_background(step: EditorState, artwork: Artwork) -> EditorState:
    pages = list(step.draft.pages)
    pages[step.page] = {**step.open_page, "Background": artwork.name}
    pictures = {**step.draft.artwork, artwork.name: artwork.digest}
    return EditorState(replace(step.draft, pages=pages, artwork=pictures), step.page)


def _refused(code: str, message: str) -> DomainError:
    return DomainError(message, faults=[Fault("/Artwork", code, message)])
