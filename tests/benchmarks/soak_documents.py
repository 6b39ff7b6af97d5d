"""Hostile PDFs, examined, laid out and drawn as a proof of one is."""

import hashlib
import tempfile
import time
from collections import Counter
from pathlib import Path

from printing.documents import DocumentRefused, Target, examine_document, place_document
from printing.typesetting import Artwork, RenderingFailed, Template, render_proof
from printing.typesetting.template import Page
from tests.support.child_memory import ChildMemory
from tests.support.hostile_documents import SECRET, hostile_documents

DOCUMENTS, SECONDS, MEGABYTES = 500, 20.0, 400
MARK = f"each refused with a sentence or drawn, in {SECONDS:.0f} s and {MEGABYTES} MB, and no file of the machine read"
CARD = Target(88.9, 50.8, 3.175)


def measure(count: int) -> list[str]:
    outcomes: Counter[str] = Counter()
    wrong: list[str] = []
    slowest = 0.0
    with tempfile.NamedTemporaryFile() as secret, ChildMemory() as memory:
        secret.write(SECRET)
        secret.flush()
        for name, content in hostile_documents(count, Path(secret.name)):
            began = time.monotonic()
            try:
                outcome = _drawn(content)
            except Exception as error:  # noqa: BLE001 - whatever it is, it would be a 500
                outcome = "failed"
                wrong.append(f"FAILED: {name}: {type(error).__name__} {error}"[:300])
            outcomes[outcome] += 1
            slowest = max(slowest, seconds := time.monotonic() - began)
            if seconds > SECONDS:
                wrong.append(f"FAILED: {name} took {seconds:.1f} s")
    if memory.megabytes > MEGABYTES:
        wrong.append(f"FAILED: a process had {memory.megabytes:.0f} MB")
    lines = [
        f"{count} PDFs: {dict(outcomes)}; slowest {slowest:.1f} s, "
        f"largest of {memory.programs} processes {memory.megabytes:.0f} MB",
        *wrong,
    ]
    print(*lines, sep="\n", flush=True)
    return lines


def _drawn(content: bytes) -> str:
    try:
        made = examine_document(content)
        laid_out = place_document(made.pdf, made.pages, [CARD] * 2, ppi=144)
        artwork = {
            str(number): Artwork(
                str(number), "application/pdf", page, hashlib.sha256(page).hexdigest(), 0, 0, is_placed=True
            )
            for number, page in enumerate(laid_out.screens)
        }
        pages = tuple(Page(CARD.width, CARD.height, CARD.bleed, name, ()) for name in artwork)
        proof = render_proof(Template("", pages, artwork, {}, frozenset()), {})
    except (DocumentRefused, RenderingFailed) as refusal:
        return "refused" if str(refusal) else "refused without a sentence"
    assert not any(SECRET in one for one in (made.pdf, proof.pdf, *proof.pages))
    return "drawn"
