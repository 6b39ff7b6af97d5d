"""The template editor: what is shown while somebody is at work, and the one way to save it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from typing import Any

from django.db import transaction
from django.utils import timezone
from PIL import Image, ImageDraw

from fulfillment.core.errors import Conflict, Fault, Invalid
from stores.catalog.models import Product
from stores.catalog.selectors.catalog import stored_product
from stores.catalog.services.products import save_product
from stores.catalog.services.stores import lock_store
from stores.editor.models import ArtworkUpload
from stores.editor.selectors.drafts import Draft, EditorContext, checked_artwork, picture_data, pictures_of
from stores.editor.services.backgrounds import has_shape_of
from stores.templates.errors import typesetting_errors
from stores.typesetting import (
    Artwork,
    Problem,
    Template,
    TemplateInvalid,
    ValuesInvalid,
    parse_draft,
    render_page,
    render_print,
    render_proof,
    resolve_values,
)
from stores.typesetting.artwork import ARTWORK_BYTES, ArtworkInvalid

BOX = re.compile(r"/Pages/(\d+)/Boxes/(\d+)(?:/|\Z)")
SAMPLE = "/Samples"
PRINT_SECONDS = 20.0


class TemplateChanged(Conflict):
    """Somebody else saved the product since; `members` name both versions."""

    code = "template_changed"


@dataclass(frozen=True, slots=True)
class PagePreview:
    """The PNG of a page without what is wrong with it, and everything wrong with the whole draft."""

    png: bytes | None
    faults: list[Fault]


def preview_page(
    *, editor: EditorContext, draft: Draft, number: int, samples: Mapping[str, str], pixels: int
) -> PagePreview:
    """Faults of the pages point into the template, those of the sample data into /Samples."""
    artwork, gallery, faults = _pictures(editor, draft)
    template, problems = _parsed(editor, draft, artwork, gallery)
    faults += [_fault(problem) for problem in problems]
    values, refused = _values(editor, gallery, samples)
    faults += [_fault(problem, SAMPLE) for problem in refused]
    if template is None or number >= len(template.pages):
        return PagePreview(None, faults)
    with typesetting_errors():
        images = _sample_images(editor, values, gallery)
        picture = render_page(template, number, values, images, editor.fonts, pixels=pixels)
    known = {fault.pointer for fault in faults}
    drawn = [_fault(problem, SAMPLE) for problem in picture.problems]
    return PagePreview(picture.png, faults + [fault for fault in drawn if fault.pointer not in known])


def render_draft(
    *, editor: EditorContext, draft: Draft, samples: Mapping[str, str], mark: str | None
) -> bytes:
    """The PDF of the draft as it is: a proof under its mark or, without one, the file for the press."""
    artwork, gallery, faults = _pictures(editor, draft)
    try:
        template = parse_draft(draft.pages, artwork, gallery, editor.fields, editor.fonts)
        values = resolve_values(editor.fields, samples, gallery)
    except (TemplateInvalid, ValuesInvalid) as error:
        where = SAMPLE if isinstance(error, ValuesInvalid) else ""
        faults += [_fault(problem, where) for problem in error.problems]
    if faults:
        raise Invalid("The template cannot be rendered as it is.", faults=faults)
    images = _sample_images(editor, values, gallery)
    with typesetting_errors():
        if mark is None:
            return render_print(template, values, images, editor.fonts, seconds=PRINT_SECONDS).pdf
        return render_proof(template, values, images, editor.fonts, mark).pdf


@transaction.atomic
def save_template(*, product: Product, version: int, draft: Draft, editor: EditorContext) -> Product:
    """Saves the draft as a new version of its product, by the service every writer of products uses.

    Raises TemplateChanged unless the product still has `version`: what somebody else saved is never lost.
    """
    store = lock_store(product.store_id)
    stored = stored_product(product.pk)
    if stored.version != version:
        message = (
            f"Somebody saved version {stored.version} of this product; you began with version {version}."
        )
        raise TemplateChanged(message, members={"Version": stored.version, "Begun": version})
    artwork, gallery, faults = _pictures(editor, draft)
    if faults:
        raise Invalid("The template cannot be saved.", faults=faults)
    template: dict[str, Any] = {"Pages": draft.pages}
    if artwork:
        template["Artwork"] = _entries(artwork)
    if gallery:
        template["Gallery"] = _entries(gallery)
    values = {**stored.record, "Template": template, "PageCount": len(draft.pages) or 1}
    return save_product(store=store, values=values, product=product)


def keep_artwork(*, product: Product, user_id: Any, name: str, media_type: str, content: bytes) -> Artwork:
    """Checks a picture and keeps it for the draft that names it; the same picture is kept once."""
    if len(content) > ARTWORK_BYTES:
        raise Invalid.at("/Artwork", "artwork_too_large", f"At most {ARTWORK_BYTES:,} bytes are allowed.")
    try:
        artwork = checked_artwork(name, media_type, content)
    except ArtworkInvalid as error:
        raise Invalid.at("/Artwork", error.code, f"{name}: {error}") from error
    ArtworkUpload.objects.update_or_create(
        product=product,
        sha256=artwork.digest,
        defaults={
            "user_id": user_id,
            "name": name[:100],
            "media_type": media_type,
            "content": artwork.data,
            "created": timezone.now(),
        },
    )
    return artwork


def _pictures(
    editor: EditorContext, draft: Draft
) -> tuple[dict[str, Artwork], dict[str, Artwork], list[Fault]]:
    artwork, gallery = pictures_of(editor, draft.artwork), pictures_of(editor, draft.gallery)
    faults = [
        Fault(f"/{part}/{name}", "artwork_gone", f"{name} is no longer there; upload it again.")
        for part, wanted, found in (("Artwork", draft.artwork, artwork), ("Gallery", draft.gallery, gallery))
        for name in wanted
        if name not in found
    ]
    return artwork, gallery, faults


def _parsed(
    editor: EditorContext, draft: Draft, artwork: Mapping[str, Artwork], gallery: Mapping[str, Artwork]
) -> tuple[Template | None, Sequence[Problem]]:
    """The draft without the boxes something is wrong with; None if a page itself is at fault."""
    try:
        return parse_draft(draft.pages, artwork, gallery, editor.fields, editor.fonts), ()
    except TemplateInvalid as error:
        problems = error.problems
    wrong = {(int(m[1]), int(m[2])) for one in problems if (m := BOX.match(one.pointer))}
    pages = [
        {**page, "Boxes": [b for at, b in enumerate(page.get("Boxes") or ()) if (number, at) not in wrong]}
        for number, page in enumerate(draft.pages)
        if isinstance(page, dict)
    ]
    for page in pages:
        background = artwork.get(page.get("Background") or "")
        # Drawn without a background that has another shape, so that the page keeps its own.
        if background is None or not has_shape_of(background, page):
            page.pop("Background", None)
    try:
        return parse_draft(pages, artwork, gallery, editor.fields, editor.fonts), problems
    except TemplateInvalid:
        return None, problems


def _values(
    editor: EditorContext, gallery: Mapping[str, Artwork], samples: Mapping[str, str]
) -> tuple[dict[str, str], Sequence[Problem]]:
    try:
        return resolve_values(editor.fields, samples, gallery), ()
    except ValuesInvalid as error:
        values = {
            field.field_name: samples.get(field.field_name) or field.org_value or field.default_value
            for field in editor.fields
        }
        return {name: value.replace("\r\n", "\n") for name, value in values.items()}, error.problems


def _sample_images(
    editor: EditorContext, values: Mapping[str, str], gallery: Mapping[str, Artwork]
) -> dict[str, bytes]:
    """A grey picture where a customer would send one."""
    uploads = [field.field_name for field in editor.fields if field.sub_type == "Upload"]
    return {name: _stand_in() for name in uploads if values.get(name) and values[name] not in gallery}


@cache
def _stand_in() -> bytes:
    picture = Image.new("RGB", (1200, 900), "#d5dad7")
    draw = ImageDraw.Draw(picture)
    draw.line([(0, 0), (1200, 900)], "#aab4ae", 6)
    draw.line([(0, 900), (1200, 0)], "#aab4ae", 6)
    out = BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def _entries(pictures: Mapping[str, Artwork]) -> dict[str, Any]:
    return {
        name: {"MediaType": one.media_type, "Data": picture_data(one.media_type, one.data)}
        for name, one in pictures.items()
    }


def _fault(problem: Problem, where: str = "") -> Fault:
    return Fault(f"{where}{problem.pointer}", problem.code, problem.message)
