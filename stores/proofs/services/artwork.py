"""A customer's print-ready PDF in place of a product's template, ready to typeset."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson
from django.conf import settings
from django.utils.translation import gettext as _

from accounts.callers import Caller
from fulfillment.core.errors import Conflict, Invalid, NotFound
from fulfillment.core.files.storage import storage_errors
from fulfillment.core.files.stored import read_file
from fulfillment.core.text import parse_uuid
from printing.caches import WeightedCache
from printing.documents import DocumentRefused, PlacedDocument, Target, place_document
from printing.preflight import die_lines_of
from printing.typesetting import Artwork, Template, render_page
from printing.typesetting.runs import proof_dpi
from printing.typesetting.template import Page
from stores.catalog.models.product import MAX_ARTWORK_PAGES
from stores.concurrency_limits import RENDERINGS
from stores.proofs.file_names import document_file
from stores.proofs.models import Asset
from stores.proofs.selectors import ProductVersion
from stores.proofs.services.assets import pages_of
from stores.proofs.services.merging import Uploads, artwork_traces
from stores.templates.selectors import (
    TemplateLayout,
    TemplateMissing,
    TemplateUnusable,
    engine_version,
    font_set_of,
    layout_of,
    typesetting_errors,
)

# An order follows its proof, and pictures of pages follow each other.
CACHE_BYTES = 64_000_000
_placed_cache: WeightedCache[tuple[object, ...], PlacedDocument] = WeightedCache(
    capacity=CACHE_BYTES, weight=lambda document: document.weight
)
# The longer side of a page's picture, and how long it may wait.
PIXELS, WAIT_SECONDS = 900, 8.0
# The bleed of products without a template whose preset has none: an eighth of an inch.
BLEED_MM = 3.175


@dataclass(frozen=True, slots=True)
class ArtworkChoice:
    """The PDF that a caller names for an item. Without `first_page`, preflight reports pages that are not printed."""

    asset_id: str
    first_page: int | None = None

    def record(self) -> dict[str, Any]:
        first = {} if self.first_page is None else {"FirstPage": self.first_page}
        return {"AssetID": self.asset_id, **first}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "ArtworkChoice":
        """Normalizes the ID, because an erasure finds proofs by it."""
        key = parse_uuid(record["AssetID"].strip())
        return cls(str(key) if key else record["AssetID"], record.get("FirstPage"))


@dataclass(frozen=True)
class ArtworkMerge:
    """A TemplateMerge whose pages are those of a customer's PDF, which is placed when `layout` is first used."""

    product: ProductVersion
    asset: Asset
    choice: ArtworkChoice
    uploads: Uploads
    in_print: bool = False

    @property
    def values(self) -> dict[str, str]:
        return {}

    @property
    def assets(self) -> dict[str, Asset]:
        return {"Artwork": self.asset}

    def traces(self) -> list[str]:
        return artwork_traces(self.uploads.caller, self.asset)

    def proof_digest(self, *extras: str) -> str:
        """Names the proof; test applications share none with others."""
        product, mode = self.product, "test" if self.uploads.caller.is_test else ""
        made_from = [
            product.pk,
            product.version,
            product.preset or "",
            self.asset.sha256,
            self.choice.first_page,
        ]
        content = orjson.dumps([*made_from, self.bleed, settings.PROOF_WATERMARK, mode, extras])
        return hashlib.blake2b(engine_version() + content, digest_size=20).hexdigest()

    def images(self, *, plates: bool = False) -> dict[str, bytes]:
        return {}

    @cached_property
    def layout(self) -> TemplateLayout:
        placed = self._placed
        contents = placed.pages if self.in_print else placed.screens
        names = self.product.font_names
        fonts = font_set_of(tuple(names.split(",")) if names else ())
        return TemplateLayout(self._template(contents), (), fonts, b"")

    @property
    def placed(self) -> Mapping[str, Any]:
        """What preflight reads of the PDF."""
        placed = self._placed
        facts = zip(placed.screens, placed.facts, strict=True)
        shown = (self.choice.first_page or 1) - 1 + self.product.page_count
        return {
            "template": self._template(placed.screens),
            "missing_pages": placed.missing,
            "ignored_pages": max(0, len(self.asset.pages or ()) - shown)
            if self.choice.first_page is None
            else 0,
            "die_lines": die_lines_of(own) if (own := self._own_template) is not None else frozenset(),
            "facts": {_sha256(content): fact for content, fact in facts},
        }

    @cached_property
    def bleed(self) -> float:
        bleed = self.product.rules.bleed_mm
        return self._bleed_of_template() if bleed is None else bleed

    def _bleed_of_template(self) -> float:
        template = self._own_template
        return template.pages[0].bleed if template is not None else BLEED_MM

    @cached_property
    def _own_template(self) -> Template | None:
        if not self.product.has_template:
            return None
        try:
            return layout_of(self.product.pk, self.product.version, self.product.font_names).template
        except (TemplateMissing, TemplateUnusable):
            return None

    @cached_property
    def _placed(self) -> PlacedDocument:
        product = self.product
        targets = [Target(product.width_mm, product.height_mm, self.bleed)] * product.page_count
        first = self.choice.first_page or 1
        key = (self.asset.sha256, first, *targets)
        try:
            if (placed := _placed_cache.get(key)) is None:
                with storage_errors():
                    content = read_file(document_file(self.asset.sha256))
                ppi = proof_dpi([target.full_size for target in targets])
                placed = place_document(content, pages_of(self.asset), targets, first=first, ppi=ppi)
                # One that is heavier would stay until the next.
                if placed.weight <= CACHE_BYTES:
                    _placed_cache.put(key, placed)
            return placed
        except FileNotFoundError as error:
            raise unknown_artwork() from error
        except DocumentRefused as error:
            raise Invalid.at("/AssetID", f"artwork_{error.code}", str(error)) from error

    def picture(self, number: int) -> bytes:
        """A PNG of page `number`, from 0, with its bleed."""
        if number >= self.product.page_count:
            raise NotFound(_("The product has no such page."), code="page_not_found")
        with RENDERINGS.slot(self.uploads.caller.key, wait=WAIT_SECONDS), typesetting_errors():
            return render_page(self.layout.template, number, {}, pixels=PIXELS, with_bleed=True).png

    def _template(self, contents: Any) -> Template:
        product = self.product
        artwork = {
            str(number): Artwork(
                str(number), "application/pdf", content, _sha256(content), 0.0, 0.0, is_placed=True
            )
            for number, content in enumerate(contents)
        }
        pages = tuple(Page(product.width_mm, product.height_mm, self.bleed, name, ()) for name in artwork)
        return Template(self.asset.sha256, pages, artwork, {}, frozenset())


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def merge_artwork(
    *,
    caller: Caller,
    product: ProductVersion,
    choice: ArtworkChoice,
    uploads: Uploads | None = None,
    in_print: bool = False,
) -> ArtworkMerge:
    """Raises Invalid whose faults point into the choice."""
    if product.page_count > MAX_ARTWORK_PAGES:
        raise Invalid.at(
            "",
            "artwork_not_allowed",
            _("%(external_id)s has too many pages for your own PDF.") % {"external_id": product.external_id},
        )
    uploads = uploads or Uploads(caller, product.store_id)
    key = parse_uuid(choice.asset_id)
    asset = uploads.find([key]).get(key) if key else None
    if asset is None:
        raise unknown_artwork()
    if not asset.is_document:
        message = "AssetID: this is a picture; send the AssetID of a PDF."
        raise Invalid.at("/AssetID", "asset_not_document", message)
    count = len(asset.pages or ())
    if choice.first_page is not None and not 1 <= choice.first_page <= count:
        message = f"FirstPage: the PDF has {count} pages." if count > 1 else "FirstPage: the PDF has 1 page."
        raise Invalid.at("/FirstPage", "page_unknown", message)
    return ArtworkMerge(product, asset, choice, uploads, in_print)


def unknown_artwork() -> Invalid:
    message = "AssetID must be that of a PDF that you uploaded to this store."
    return Invalid.at("/AssetID", "unknown_asset", message)


@contextmanager
def artwork_errors() -> Iterator[None]:
    """Raises Invalid for a PDF that the typesetter rejects: another one is needed, not another template."""
    try:
        yield
    except Conflict as error:
        if not isinstance(error, TemplateUnusable):
            raise
        message = "The PDF cannot be drawn. Export it again, as PDF/X-4 or more simply."
        raise Invalid.at("/AssetID", "artwork_unusable", message) from error
