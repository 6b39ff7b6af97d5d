"""Pictures of recent pages: drawing a page takes longer than all else, and its PNG longer than its drawing.

Most proofs change few pages.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from printing.caches import WeightedCache
from printing.typesetting.jobs import RenderInput

DRAWN_BYTES = 32 * 1024 * 1024

drawn_pages: WeightedCache[str, bytes] = WeightedCache(capacity=DRAWN_BYTES, weight=len)


def page_keys(sheet: RenderInput, job: Mapping[str, Any], setting: Mapping[str, Any]) -> list[str]:
    """For each page a digest of all that it is drawn from: equal pages are the same picture."""
    pictures = {key: hashlib.sha256(content).hexdigest() for key, (content, _) in sheet.pictures.items()}
    common = json.dumps([job, setting["ppi"], setting["fonts"]])
    return [
        hashlib.sha256((common + _drawn_from(page, pictures)).encode()).hexdigest() for page in sheet.pages
    ]


def _drawn_from(page: Mapping[str, Any], pictures: Mapping[str, str]) -> str:
    """A text has a number among those of all pages, which is not drawn; a picture of the caller has no name."""
    boxes = [{**box, "id": None, "picture": pictures.get(box.get("picture", ""))} for box in page["boxes"]]
    return json.dumps({**page, "boxes": boxes})
