"""A customer's print-ready PDF as it lies on the pages of a product, for portal and console."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from printing.preflight.findings import has_error, picture_of_page
from stores.product_pages.selectors import ProductPage
from stores.proofs.links import proof_urls
from stores.proofs.models import Asset
from stores.proofs.selectors import StoredProof
from stores.proofs.services.artwork import ArtworkChoice, ArtworkMerge, merge_artwork
from stores.proofs.services.assets import pages_of
from stores.proofs.services.proofs import make_artwork_proof

# A size that differs by more is drawn.
DRAWN_MM = 0.3


@dataclass(slots=True, kw_only=True)
class CheckedArtwork:
    """A PDF as it lies on the pages of a product, with what preflight found."""

    merged: ArtworkMerge
    proof: StoredProof
    pages: list[dict[str, Any]]
    pdf: str

    @property
    def asset(self) -> Asset:
        return self.merged.asset

    @property
    def findings(self) -> Any:
        return self.proof.preflight

    @property
    def has_error(self) -> bool:
        return has_error(self.proof.preflight)

    @property
    def has_other_size(self) -> bool:
        return any(page["own"] for page in self.pages)

    @property
    def bleed(self) -> float:
        return self.merged.bleed

    @property
    def first_pages(self) -> list[tuple[int, str]]:
        """Each page of the PDF that may be the first one, with its size."""
        return [
            (number, f"{page.size[0]:.1f} × {page.size[1]:.1f} mm")  # noqa: RUF001 - a multiplication sign is meant
            for number, page in enumerate(pages_of(self.asset), 1)
        ]


def check_artwork(
    *, caller: Any, product: ProductPage, choice: ArtworkChoice, picture_root: str
) -> CheckedArtwork:
    """Raises DomainError for a PDF that cannot be laid out; `picture_root` is the address of the pages' pictures."""
    version = product.version
    merged = merge_artwork(caller=caller, product=version, choice=choice)
    proof = make_artwork_proof(caller=caller, product=version, choice=choice)
    pdf = proof_urls(proof, version.external_id).pdf.removeprefix(settings.PUBLIC_URL)
    pages = [_shown_page(merged, proof, number, picture_root) for number in range(version.page_count)]
    return CheckedArtwork(merged=merged, proof=proof, pages=pages, pdf=pdf)


def _shown_page(merged: ArtworkMerge, proof: StoredProof, number: int, root: str) -> dict[str, Any]:
    """The picture with its bleed, the trim of the product, and that of the PDF where it is another one."""
    product, bleed, first = merged.product, merged.bleed, merged.choice.first_page or 1
    width, height = product.width_mm, product.height_mm
    full_size = (width + 2 * bleed, height + 2 * bleed)
    view_box = (-bleed, -bleed, *full_size)
    sources = pages_of(merged.asset)
    source = sources[first - 1 + number] if first - 1 + number < len(sources) else None
    own = None
    if source is not None and _differs(source.size, (width, height), full_size):
        x, y = (width - source.size[0]) / 2, (height - source.size[1]) / 2
        own = {
            "x": f"{x:.2f}",
            "y": f"{y:.2f}",
            "width": f"{source.size[0]:.2f}",
            "height": f"{source.size[1]:.2f}",
        }
    outside = "M{0:.2f} {0:.2f}h{1:.2f}v{2:.2f}h-{1:.2f}z".format(-bleed, view_box[2], view_box[3])
    return {
        "url": f"{root}/{merged.asset.pk}/{first}-{number}.png",
        "number": first + number,
        "is_there": source is not None,
        "picture": picture_of_page(proof.preflight, number + 1, view_box),
        "bleed": f"{outside}M0 0v{height:.2f}h{width:.2f}v-{height:.2f}z",
        "trim": {"width": f"{width:.2f}", "height": f"{height:.2f}"},
        "own": own,
    }


def _differs(size: tuple[float, float], *sizes: tuple[float, float]) -> bool:
    return not any(max(abs(size[0] - other[0]), abs(size[1] - other[1])) < DRAWN_MM for other in sizes)


def read_artwork_choice(values: Mapping[str, str]) -> ArtworkChoice | None:
    """The PDF that an address or a form names."""
    first = values.get("first", "")
    record: dict[str, Any] = {"AssetID": values.get("asset", "")[:64]}
    if first.isascii() and first.isdigit():
        record["FirstPage"] = int(first[:4])
    return ArtworkChoice.from_record(record) if record["AssetID"] else None
