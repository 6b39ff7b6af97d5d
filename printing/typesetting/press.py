"""The press settings of a rendering: the preset, and the function that separates and caches pictures."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from printing.bounded import TaskFailed, TaskTimedOut
from printing.press import isolation
from printing.press.pictures import placeholder
from printing.press.profiles import SHIPPED
from printing.press.rules import BUILT_IN, PresetRules
from printing.press.writer import inks_for_spot
from printing.typesetting.errors import RenderingFailed, RenderingTimedOut
from printing.typesetting.template import Page, Template

SLUG_MM = 8.0
PICTURE_TYPES = frozenset({"image/png", "image/jpeg"})
TITLE = "Print"

Separating = Callable[[bytes], bytes]
# The print file, the PDF and pictures of its proof, or pictures of its ink.
Makes = Literal["file", "proof", "inks"]


@dataclass(frozen=True, slots=True)
class Press:
    """`profile` is the file of the preset's output profile; `separate` makes a picture's plates, or finds them kept.

    `title` is what the file is called, in its metadata and its slug line.
    """

    rules: PresetRules = BUILT_IN
    profile: Path = SHIPPED
    title: str = TITLE
    separate: Separating | None = None

    @property
    def slug_mm(self) -> float:
        """The margin outside of the bleed."""
        return SLUG_MM if self.rules.marks or self.rules.slug else 0.0

    def bleed_of(self, page: Page) -> float:
        """The bleed of the preset, limited to that of the template."""
        preset_bleed = self.rules.bleed_mm
        return page.bleed if preset_bleed is None else min(preset_bleed, page.bleed)

    def job(self, pages: Sequence[Page]) -> dict[str, Any]:
        """The marks that layout.typ draws outside of the trim."""
        lines = [
            f"{self.title} · {number} / {len(pages)} · {self.rules.name}"
            for number in range(1, len(pages) + 1)
        ]
        return {
            "print": True,
            "slug": self.slug_mm,
            "marks": self.rules.marks,
            "slug-lines": lines if self.rules.slug else [],
        }

    def request(
        self, template: Template, pictures: Mapping[str, str], spots: Sequence[Any], *, makes: Makes
    ) -> dict[str, Any]:
        """Builds the request to the worker; `pictures` are the separated files by the digests of their placeholders."""
        boxes = [[page.width, page.height, self.bleed_of(page), self.slug_mm] for page in template.pages]
        job = {
            "is_cmyk": self.rules.is_cmyk,
            "keeps_overprint": self.rules.keeps_overprint,
            "highest_ink": self.rules.highest_ink,
            "title": self.title,
            "has_pdf": template.has_pdf,
            "pictures": dict(pictures),
            "spots": list(spots),
        }
        return {"makes": makes, "profile": str(self.profile), "boxes": boxes, "job": job}

    def separate_picture(self, content: bytes) -> bytes:
        if self.separate is not None:
            return self.separate(content)
        return separate(content, self.profile, self.rules.highest_ink)

    def placeholder(self, content: bytes, size: tuple[float, float], digest: str) -> tuple[bytes, str, bytes]:
        """A placeholder, its digest, and the separated picture that will take its place."""
        picture = placeholder(size, digest)
        return picture, hashlib.sha256(picture).hexdigest(), self.separate_picture(content)


BUILT_IN_PRESS = Press()


def separate(content: bytes, profile: Path, highest_ink: int) -> bytes:
    """A picture as a PDF with one image in inks, with the errors of rendering."""
    try:
        return isolation.separate(content, profile, highest_ink)
    except TaskTimedOut as error:
        raise RenderingTimedOut("Separating a picture took too long and was stopped.") from error
    except TaskFailed as error:
        raise RenderingFailed(f"A picture could not be separated: {error}") from error


def placeholder_of_spot(number: int) -> list[float]:
    """The inks of the placeholder, in percent."""
    return [part / 2.55 for part in inks_for_spot(number)]
