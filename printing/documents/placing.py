"""Lays the pages of a PDF out on pages of a product: by their trim, 1 to 1, never scaled."""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pikepdf

from printing.artwork.packing import pack_facts, trim_in_points, unpack_facts
from printing.artwork.parts import ArtworkFacts
from printing.artwork.pdf import read_pdf
from printing.documents.examining import SENT, DocumentRefused, reply_or_refusal, run_on_document
from printing.press.artwork import MM, ArtworkPage, page_from
from printing.press.objects import save_pdf
from printing.press.screen import fit_pictures, open_pdf

# The quality of the JPEGs of a proof.
QUALITY = 88
# The size of all that is laid out, which the web process reads. Each page holds all that it draws: a picture of 5 MB
# on 200 pages is a gigabyte.
LAID_OUT_BYTES = 128 * 1024 * 1024
# From so many pages on two processes share them.
SHARED_PAGES = 16
TOO_LARGE = "The pages of the PDF, with all their pictures, are too large. Export it with smaller pictures."


@dataclass(frozen=True, slots=True)
class Target:
    """A page of the product: its trimmed size and its bleed, in millimetres."""

    width: float
    height: float
    bleed: float

    @property
    def full_size(self) -> tuple[float, float]:
        return self.width + 2 * self.bleed, self.height + 2 * self.bleed


@dataclass(frozen=True, slots=True)
class PlacedDocument:
    """A PDF of one page, as large as trim and bleed, for each page of the product, and what is known of it.

    `missing` counts pages of the product for which the PDF has none.

    `screens` are the same pages with no more pixels in their pictures than a proof shows: the same bytes where there
    are no more.
    """

    pages: Sequence[bytes]
    screens: Sequence[bytes]
    facts: Sequence[ArtworkFacts]
    missing: int

    @property
    def weight(self) -> int:
        """The size in memory, in bytes."""
        # Objects are counted once: equal pages are in memory each, and a screen is often its page.
        sizes = {id(content): len(content) for content in (*self.pages, *self.screens)}
        return sum(sizes.values()) + sum(fact.weight for fact in self.facts)


def place_document(
    prepared: bytes, pages: Sequence[ArtworkPage], targets: Sequence[Target], *, first: int = 1, ppi: float
) -> PlacedDocument:
    """Page `first` of an examined PDF becomes the first one; raises DocumentRefused."""
    shares = 1 if len(targets) < SHARED_PAGES else 2
    step = math.ceil(len(targets) / shares)

    def place_share(start: int) -> PlacedDocument:
        targets_of_share = targets[start : start + step]
        return _place_share(prepared, pages, targets_of_share, first=first + start, ppi=ppi, shares=shares)

    with ThreadPoolExecutor(shares) as pool:
        placed_shares = list(pool.map(place_share, range(0, len(targets), step)))
    return PlacedDocument(
        pages=[content for share in placed_shares for content in share.pages],
        screens=[content for share in placed_shares for content in share.screens],
        facts=[fact for share in placed_shares for fact in share.facts],
        missing=sum(share.missing for share in placed_shares),
    )


def _place_share(
    prepared: bytes,
    pages: Sequence[ArtworkPage],
    targets: Sequence[Target],
    *,
    first: int,
    ppi: float,
    shares: int,
) -> PlacedDocument:
    source_pages = list(pages[first - 1 : first - 1 + len(targets)])
    task = "printing.documents.placing:place_in_folder"
    options = {"first": first, "ppi": ppi, "shares": shares, "pages": [asdict(page) for page in source_pages]}
    sizes = [[target.width, target.height, target.bleed] for target in targets]
    reply, files = run_on_document(task, prepared, sizes=sizes, **options)
    numbers, missing = range(len(targets)), len(targets) - len(source_pages)
    facts = [unpack_facts(packed, files[_name_file("bare", number)]) for number, packed in enumerate(reply)]
    return PlacedDocument(
        pages=[files[_name_file("page", number)] for number in numbers],
        screens=[
            files.get(_name_file("screen", number), files[_name_file("page", number)]) for number in numbers
        ],
        facts=[
            replace(fact, page=source_pages[number]) if number < len(source_pages) else fact
            for number, fact in enumerate(facts)
        ],
        missing=missing,
    )


def place_in_folder(
    folder: Path,
    sizes: list[list[float]],
    pages: list[dict[str, Any]],
    first: int,
    ppi: float,
    shares: int = 1,
) -> dict[str, Any]:
    """`shares` is by how many processes all that is laid out is divided."""
    names = [_name_file(kind, number) for number in range(len(sizes)) for kind in ("page", "screen", "bare")]
    source_pages, targets = [page_from(page) for page in pages], [Target(*size) for size in sizes]
    max_bytes = LAID_OUT_BYTES // shares
    reply = reply_or_refusal(lambda: _place_pages(folder, targets, source_pages, first, ppi, max_bytes))
    return {**reply, "files": [name for name in names if (folder / name).exists()]}


def _place_pages(
    folder: Path, targets: list[Target], pages: list[ArtworkPage], first: int, ppi: float, max_bytes: int
) -> list[dict[str, Any]]:
    facts, size = [], 0
    with pikepdf.open(folder / SENT) as pdf:
        pdf.remove_unreferenced_resources()
        for number, target in enumerate(targets):
            page = pages[number] if number < len(pages) else None
            source = pdf.pages[first - 1 + number] if page else None
            files = [folder / _name_file(kind, number) for kind in ("page", "screen", "bare")]
            page_file, screen_file, bare_file = files
            facts_of_page = (
                _lay_out_page(source, page, target, ppi, page_file, screen_file)
                if source and page
                else _lay_out_blank(target, page_file)
            )
            bare_file.write_bytes(facts_of_page.bare)
            facts.append(pack_facts(facts_of_page))
            size += sum(file.stat().st_size for file in files if file.exists())
            if size > max_bytes:
                raise DocumentRefused("too_complex", TOO_LARGE)
    return facts


def _lay_out_page(
    source: pikepdf.Page, page: ArtworkPage, target: Target, ppi: float, page_file: Path, screen_file: Path
) -> ArtworkFacts:
    """Large pictures stay in files; `screen_file` is written where it is smaller."""
    source_file = page_file.with_suffix(".alone")
    with pikepdf.new() as copy:
        copy.pages.append(source)
        copy.save(source_file, static_id=True)
    small = fit_pictures(source_file, ppi, quality=QUALITY)
    if small:
        with open_pdf(small) as fitted:
            _lay_out(fitted.pages[0], page, target, screen_file)
    _lay_out(source, page, target, page_file)
    facts = read_pdf(source_file, small=small, trim=trim_in_points(page))
    source_file.unlink()
    return facts


def _lay_out_blank(target: Target, page_file: Path) -> ArtworkFacts:
    with pikepdf.new() as blank:
        sheet = blank.add_blank_page()
        sheet.obj.MediaBox = pikepdf.Array([0, 0, *(round(side / MM, 4) for side in target.full_size)])
        content = save_pdf(blank, static_id=True)
    page_file.write_bytes(content)
    return read_pdf(content)


def _name_file(kind: str, number: int) -> str:
    return f"{kind}-{number}.pdf"


def _lay_out(source: pikepdf.Page, page: ArtworkPage, target: Target, file: Path) -> None:
    """The center of its trim is the center of the product's; marks outside of its bleed are cut off."""
    with pikepdf.new() as layout:
        layout.pages.append(source)
        sheet = layout.pages[0]
        (x, y), (width, height), reach = page.center, target.full_size, page.reach
        box = (reach.x, page.height - reach.bottom, reach.width, reach.height)
        points = tuple(side / MM for side in box)
        sheet.contents_add(b"q %.4f %.4f %.4f %.4f re W n" % points, prepend=True)
        sheet.contents_add(b"Q")
        left, bottom = (x - width / 2) / MM, (page.height - y - height / 2) / MM
        window = [left, bottom, left + width / MM, bottom + height / MM]
        sheet.obj.MediaBox = pikepdf.Array([round(side, 4) for side in window])
        layout.save(file, static_id=True)
