"""Earlier versions of a template, from the outlines that the trail of changes keeps and the pictures beside them."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.contrib.auth import get_user_model

from fulfillment.core.errors import Conflict, NotFound
from printing.typesetting import Artwork
from printing.typesetting.artwork import ArtworkInvalid, read_artwork
from stores.catalog.models import Product, TemplateChange, TemplatePicture
from stores.editor.selectors.drafts import Draft, EditorContext

# Older versions are in the audit log.
LISTED_VERSIONS = 100


@dataclass(frozen=True, slots=True)
class TemplateVersion:
    """`since` and `by` come from the change that created the version; a product's first version has neither."""

    version: int
    outline: Any
    since: datetime | None = None
    by: str = ""

    @property
    def is_whole(self) -> bool:
        """Of a very long template only the number of boxes is kept."""
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
    known = {str(pk): name for pk, name in names.items()}

    def by(change: TemplateChange) -> str:
        user = str(change.context.metadata.get("user") or "") if change.context else ""
        return known.get(user, user)

    found = [
        TemplateVersion(change.version, change.after, change.timestamp, by(change)) for change in changes
    ]
    first = changes[-1]
    return [*found, TemplateVersion(first.version - 1, first.before)] if first.before is not None else found


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
    digests = {
        digest for part in ("Artwork", "Gallery") for digest in (version.outline.get(part) or {}).values()
    }
    found = dict(_stored_pictures(product, digests)) if digests else {}
    if missing := digests - found.keys():
        count = "A picture" if len(missing) == 1 else f"{len(missing)} pictures"
        raise VersionIncomplete(f"{count} of version {version.version} is no longer kept.")
    named = {
        part: {name: found[digest].digest for name, digest in (version.outline.get(part) or {}).items()}
        for part in ("Artwork", "Gallery")
    }
    earlier = {one.digest: one for one in found.values()}
    return replace(editor, earlier=earlier), Draft(
        version.outline["Pages"], named["Artwork"], named["Gallery"]
    )


def version_numbered(versions: list[TemplateVersion], number: int) -> TemplateVersion:
    found = next((one for one in versions if one.version == number), None)
    if found is None:
        raise NotFound(f"There is no version {number} of this template.")
    return found


def _stored_pictures(product: Product, digests: set[str]) -> Iterator[tuple[str, Artwork]]:
    """Current and former pictures of the template, by the SHA-256 of their data."""
    template: Mapping[str, Any] = product.template or {}
    for part in ("Artwork", "Gallery"):
        for name, entry in (template.get(part) or {}).items():
            digest = hashlib.sha256(str(entry.get("Data")).encode()).hexdigest()
            if digest in digests:
                yield from _read(digest, name, entry.get("MediaType"), entry.get("Data"))
    for picture in TemplatePicture.objects.filter(product=product, sha256__in=digests):
        yield from _read(picture.sha256, picture.sha256[:12], picture.media_type, picture.data)


def _read(digest: str, name: str, media_type: Any, data: Any) -> Iterator[tuple[str, Artwork]]:
    try:
        yield digest, read_artwork(name, media_type, data)
    except ArtworkInvalid:
        # Rules have become stricter since: the version counts as incomplete.
        return
