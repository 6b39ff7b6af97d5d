"""A print-ready PDF of 50 MB and 100 pages, examined, laid out, checked and drawn as a proof of it is.

python -m tests.benchmarks.large_pdf
"""

import hashlib
import io
import os
import sys
import time

import pikepdf
from pikepdf import Dictionary, Name
from PIL import Image

from printing.documents import Target, examine_document, place_document
from printing.preflight import Job, preflight
from printing.preflight.findings import USUAL
from printing.typesetting import Artwork, FontSet, Template, render_proof
from printing.typesetting.runs import proof_dpi
from printing.typesetting.template import Page
from printing.typesetting.workers import shared_workers
from tests.benchmarks import MISSED
from tests.support.printing.document_making import MM, box, written
from tests.support.printing.made_templates import words_template
from tests.support.servers.child_memory import ChildMemory

PAGES, BYTES = 100, 50_000_000
A5 = Target(148, 210, 3.175)
SECONDS, MEGABYTES = 6.0, 400
STARTING_SECONDS = 60.0


def large_pdf() -> bytes:
    """A photograph of its own and a line of text on each page."""
    width, height = ((side + 2 * A5.bleed) * MM for side in (A5.width, A5.height))
    noise = Image.effect_noise((1240, 1754), 48)
    with pikepdf.new() as pdf:
        font = pdf.make_indirect(Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica))
        for number in range(PAGES):
            photo = Image.merge("RGB", [noise.rotate(number * 3), noise, noise.rotate(90)]).resize(
                (1240, 1754)
            )
            image = pdf.make_stream(_jpeg(photo))
            image.stream_dict = Dictionary(
                Type=Name.XObject,
                Subtype=Name.Image,
                Width=1240,
                Height=1754,
                ColorSpace=Name.DeviceRGB,
                BitsPerComponent=8,
                Filter=Name.DCTDecode,
            )
            page = pdf.add_blank_page(page_size=(width, height)).obj
            page.TrimBox = box((A5.bleed, A5.bleed, A5.bleed + A5.width, A5.bleed + A5.height))
            page.Resources = Dictionary(XObject=Dictionary(P=image), Font=Dictionary(F=font))
            words = b"BT 0 g /F 12 Tf 60 60 Td (Page %d) Tj ET" % number
            page.Contents = pdf.make_stream(b"q %.2f 0 0 %.2f 0 0 cm /P Do Q " % (width, height) + words)
        return written(pdf)


def _jpeg(picture: Image.Image) -> bytes:
    """As many bytes as each of the pages has."""
    for quality in range(40, 96, 5):
        out = io.BytesIO()
        picture.save(out, "JPEG", quality=quality)
        if len(out.getvalue()) >= BYTES / PAGES:
            break
    return out.getvalue()


def main() -> int:
    content = large_pdf()
    print(f"{len(content):,} bytes, load average {os.getloadavg()[0]:.1f}")
    _warm_up()
    with ChildMemory() as memory:
        began = time.monotonic()
        _make_proof(content)
        seconds = time.monotonic() - began
    shared_workers.close()
    print(
        f"together {seconds:.1f} s (mark {SECONDS:g}), "
        f"largest process {memory.megabytes:.0f} MB (mark {MEGABYTES})"
    )
    return 0 if seconds <= SECONDS and memory.megabytes <= MEGABYTES else MISSED


def _warm_up() -> None:
    """Two renderers run already in a service that has made a long proof before."""
    end = time.monotonic() + STARTING_SECONDS
    with shared_workers.lend(end), shared_workers.lend_second():
        render_proof(words_template(), {"Words": "Dana"})


def _make_proof(content: bytes) -> None:
    made = examine_document(content)
    ppi = proof_dpi([A5.full_size] * PAGES)
    placed = place_document(made.pdf, made.pages, [A5] * PAGES, ppi=ppi)
    digests = [hashlib.sha256(screen).hexdigest() for screen in placed.screens]
    artwork = {
        str(number): Artwork(str(number), "application/pdf", page, digest, 0, 0, is_placed=True)
        for number, (page, digest) in enumerate(zip(placed.screens, digests, strict=True))
    }
    pages = tuple(Page(A5.width, A5.height, A5.bleed, name, ()) for name in artwork)
    template = Template("large", pages, artwork, {}, frozenset())
    render_proof(template, {})
    facts = dict(zip(digests, placed.facts, strict=True))
    preflight(Job(template, {}, {}, FontSet.shipped(), facts=facts), USUAL)


if __name__ == "__main__":
    sys.exit(main())
