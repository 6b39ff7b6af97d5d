"""Drafts of the template editor, and earlier versions of a template with their pictures by SHA-256."""

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import orjson
from django.contrib.auth import get_user_model

from fulfillment.core.db.prepared import fetch_row
from fulfillment.core.errors import Conflict, Fault, NotFound
from printing.caches import WeightedCache
from printing.preflight import ProductFacts
from printing.press.rules import PresetRules
from printing.typesetting import Artwork, Field, FontSet, read_field
from printing.typesetting.artwork import ArtworkInvalid, read_artwork
from stores.catalog.models import ArtworkUpload, Product, TemplateChange, TemplatePicture
from stores.presets.selectors import PRESET_OF_PRODUCT, rules_from
from stores.templates.selectors import FIELDS, font_set

CACHE_BYTES = 64_000_000
PAGES = """
SELECT (product.template -> 'Pages')::text, product.width_mm, product.height_mm
FROM stores_product product WHERE product.id = %s
"""
PICTURES = """
SELECT product.version, (product.template -> 'Artwork')::text, (product.template -> 'Gallery')::text
FROM stores_product product WHERE product.id = %s
"""
CONTEXT = f"""
SELECT product.version, ({FIELDS}), {PRESET_OF_PRODUCT}, product.width_mm::float8, product.height_mm::float8,
       product.page_count, product.is_eddm
FROM stores_product product WHERE product.id = %s
"""  # noqa: S608 - constant texts only
# Older versions are in the audit log.
LISTED_VERSIONS = 100


@dataclass(frozen=True, slots=True)
class Draft:
    """A template in the making; `artwork` and `gallery` give the SHA-256 of each named picture.

    `new_fields` are entries of TemplateFields that the product is given when the draft is saved.
    """

    pages: list[Any]
    artwork: dict[str, str]
    gallery: dict[str, str]
    new_fields: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class EditorContext:
    """What every step of the editor needs of a product, with the version it was read at.

    `earlier` are pictures, by their SHA-256, that only an earlier version of the template has.
    """

    product_pk: int
    version: int
    fields: tuple[Field, ...]
    fonts: FontSet
    rules: PresetRules
    product: ProductFacts
    earlier: Mapping[str, Artwork] = field(default_factory=dict)

    def with_fields(self, entries: Sequence[Any]) -> "EditorContext":
        """The context with the draft's new fields, except those that the product already has."""
        existing_names = {field.field_name for field in self.fields}
        new = (read_field(entry) for entry in entries)
        return replace(
            self,
            fields=(
                *self.fields,
                *(new_field for new_field in new if new_field.field_name not in existing_names),
            ),
        )


def load_editor_context(product_pk: int) -> EditorContext:
    row = fetch_row(CONTEXT, (product_pk,))
    if row is None:
        raise NotFound("This product was deleted in the meantime.", code="product_not_found")
    version, entries, preset, *size = row
    fields = tuple(read_field(entry) for entry in orjson.loads(entries))
    return EditorContext(product_pk, version, fields, font_set(), rules_from(preset), ProductFacts(*size))


def read_stored_draft(editor: EditorContext) -> Draft:
    """The saved template, or an empty page of the product's size."""
    pages, width, height = fetch_row(PAGES, (editor.product_pk,)) or (None, 0, 0)
    if pages is None:
        return Draft(
            [{"WidthMM": float(width), "HeightMM": float(height), "BleedMM": 3, "Boxes": []}], {}, {}
        )
    artwork, gallery = _stored_pictures(editor.product_pk, editor.version)
    return Draft(
        orjson.loads(pages),
        {name: picture.digest for name, picture in artwork.items()},
        {name: picture.digest for name, picture in gallery.items()},
    )


def find_pictures(editor: EditorContext, digests: Mapping[str, str]) -> dict[str, Artwork]:
    """The pictures by the names of the draft; one that is neither saved nor uploaded is left out."""
    picture_by_digest = dict(editor.earlier)
    if any(digest not in picture_by_digest for digest in digests.values()):
        artwork, gallery = _stored_pictures(editor.product_pk, editor.version)
        picture_by_digest |= {picture.digest: picture for picture in (*artwork.values(), *gallery.values())}
    if missing := {digest for digest in digests.values() if digest not in picture_by_digest}:
        picture_by_digest |= _uploaded_pictures(editor.product_pk, missing)
    return {
        name: picture_by_digest[digest] for name, digest in digests.items() if digest in picture_by_digest
    }


def read_pictures(
    editor: EditorContext, draft: Draft
) -> tuple[dict[str, Artwork], dict[str, Artwork], list[Fault]]:
    """Artwork and gallery of the draft, and a fault for each missing picture."""
    artwork, gallery = find_pictures(editor, draft.artwork), find_pictures(editor, draft.gallery)
    faults = [
        Fault(f"/{part}/{name}", "artwork_gone", f"{name} is no longer there; upload it again.")
        for part, digests, pictures in (
            ("Artwork", draft.artwork, artwork),
            ("Gallery", draft.gallery, gallery),
        )
        for name in digests
        if name not in pictures
    ]
    return artwork, gallery, faults


_Key = tuple[Any, ...]
_Pictures = tuple[dict[str, Artwork], dict[str, Artwork]]


_cache: WeightedCache[_Key, _Pictures] = WeightedCache(
    capacity=CACHE_BYTES,
    weight=lambda pictures: sum(len(picture.data) for part in pictures for picture in part.values()),
)


def _stored_pictures(product_pk: int, version: int) -> _Pictures:
    """Cached by the version of the product, because reading takes longer than a preview may."""
    if (cached := _cache.get((product_pk, version))) is not None:
        return cached
    row = fetch_row(PICTURES, (product_pk,))
    stored_version, artwork, gallery = row or (version, None, None)
    pictures = (_read(artwork), _read(gallery))
    _cache.put((product_pk, stored_version), pictures)
    return pictures


def _uploaded_pictures(product_pk: int, digests: Iterable[str]) -> dict[str, Artwork]:
    keys = {digest: (product_pk, "upload", digest) for digest in digests}
    pictures = {
        digest: cached[0][digest] for digest, key in keys.items() if (cached := _cache.get(key)) is not None
    }
    missing = [digest for digest in keys if digest not in pictures]
    for upload in ArtworkUpload.objects.filter(product=product_pk, sha256__in=missing) if missing else ():
        # Checked at its upload.
        pictures[upload.sha256] = checked_artwork(upload.name, upload.media_type, bytes(upload.content))
        _cache.put(keys[upload.sha256], ({upload.sha256: pictures[upload.sha256]}, {}))
    return pictures


def checked_artwork(name: str, media_type: str, content: bytes) -> Artwork:
    """Raises ArtworkInvalid."""
    return read_artwork(name, media_type, encode_data(media_type, content))


def encode_data(media_type: str, content: bytes) -> str:
    """The `Data` of a template's picture: SVG as it is, everything else as base64."""
    return (
        content.decode("utf-8", "replace") if media_type == "image/svg+xml" else b64encode(content).decode()
    )


def _read(text: str | None) -> dict[str, Artwork]:
    pictures = {}
    for name, entry in (orjson.loads(text) or {}).items() if text else ():
        try:
            pictures[name] = read_artwork(name, entry.get("MediaType"), entry.get("Data"))
        except ArtworkInvalid:
            # The rules became stricter after it was saved; the editor reports it as missing.
            continue
    return pictures


@dataclass(frozen=True, slots=True)
class TemplateVersion:
    """`since` and `by` come from the change that created the version; a product's first version has neither."""

    version: int
    outline: Any
    since: datetime | None = None
    by: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether all boxes are kept: of a very long template it is only their number."""
        pages = self.outline.get("Pages") if isinstance(self.outline, dict) else None
        return isinstance(pages, list) and not any(isinstance(page.get("Boxes"), int) for page in pages)


class VersionIncomplete(Conflict):
    code = "version_incomplete"


def template_versions(product: Product) -> list[TemplateVersion]:
    """Newest first, without versions of the product that did not change its template."""
    changes = list(
        TemplateChange.objects.filter(product=product)
        .select_related("context")
        .order_by("-version", "-pk")[:LISTED_VERSIONS]
    )
    if not changes:
        return []
    ids = [str(change.context.metadata.get("user") or "") for change in changes if change.context]
    names = dict(get_user_model().objects.filter(pk__in=filter(None, ids)).values_list("pk", "username"))
    username_by_id = {str(pk): name for pk, name in names.items()}

    def by(change: TemplateChange) -> str:
        user = str(change.context.metadata.get("user") or "") if change.context else ""
        return username_by_id.get(user, user)

    versions = [
        TemplateVersion(change.version, change.after, change.timestamp, by(change)) for change in changes
    ]
    first = changes[-1]
    if first.before is not None:
        versions.append(TemplateVersion(first.version - 1, first.before))
    return versions


def version_draft(
    editor: EditorContext, product: Product, version: TemplateVersion
) -> tuple[EditorContext, Draft]:
    """The draft of a version, and the context that knows its pictures.

    Raises VersionIncomplete where boxes or pictures of it are no longer kept.
    """
    if not version.is_whole:
        raise VersionIncomplete(
            f"Version {version.version} is not kept whole: it cannot be shown or restored."
        )
    artwork_digests, gallery_digests = (version.outline.get(part) or {} for part in ("Artwork", "Gallery"))
    digests = {*artwork_digests.values(), *gallery_digests.values()}
    pictures = dict(_kept_pictures(product, digests)) if digests else {}
    if missing := digests - pictures.keys():
        count = "A picture" if len(missing) == 1 else f"{len(missing)} pictures"
        raise VersionIncomplete(f"{count} of version {version.version} is no longer kept.")
    artwork, gallery = (
        {name: pictures[digest].digest for name, digest in digest_by_name.items()}
        for digest_by_name in (artwork_digests, gallery_digests)
    )
    earlier = {picture.digest: picture for picture in pictures.values()}
    return replace(editor, earlier=earlier), Draft(version.outline["Pages"], artwork, gallery)


def version_numbered(versions: list[TemplateVersion], number: int) -> TemplateVersion:
    for version in versions:
        if version.version == number:
            return version
    raise NotFound(f"There is no version {number} of this template.")


def _kept_pictures(product: Product, digests: set[str]) -> Iterator[tuple[str, Artwork]]:
    """Current and former pictures of the template, by the SHA-256 of their data."""
    template: Mapping[str, Any] = product.template or {}
    for part in ("Artwork", "Gallery"):
        for name, entry in (template.get(part) or {}).items():
            digest = hashlib.sha256(str(entry.get("Data")).encode()).hexdigest()
            if digest in digests:
                yield from _read_kept(digest, name, entry.get("MediaType"), entry.get("Data"))
    for picture in TemplatePicture.objects.filter(product=product, sha256__in=digests):
        yield from _read_kept(picture.sha256, picture.sha256[:12], picture.media_type, picture.data)


def _read_kept(digest: str, name: str, media_type: Any, data: Any) -> Iterator[tuple[str, Artwork]]:
    try:
        yield digest, read_artwork(name, media_type, data)
    except ArtworkInvalid:
        # Rules have become stricter since: the version counts as incomplete.
        return
