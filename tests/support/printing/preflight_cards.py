"""What preflight says of a card that a test describes, typeset as a proof is."""

import base64
import io
from collections.abc import Mapping
from typing import Any

import pikepdf
from PIL import Image

from printing.preflight import Finding, Limits, PreflightInput, ProductFacts, preflight
from printing.press.rules import PresetRules
from printing.typesetting import Field, FontSet, Press, parse_template, render_proof
from tests.factories.templates import page

CARD = ProductFacts(88.9, 50.8, 1)
WIDTH, HEIGHT = 94.9, 56.8
POINTS = 72 / 25.4


def inspected(
    *boxes: dict[str, Any],
    values: Mapping[str, str] | None = None,
    images: Mapping[str, bytes] | None = None,
    artwork: dict[str, Any] | None = None,
    gallery: dict[str, Any] | None = None,
    pages: int = 1,
    product: ProductFacts | None = CARD,
    preset: PresetRules | None = None,
    fonts: FontSet | None = None,
    is_rendered: bool = True,
    die_lines: frozenset[str] = frozenset(),
    **whole: Any,
) -> list[Finding]:
    """Of a card with these boxes; `artwork` lies behind it, as an entry of Artwork."""
    values, images, fonts = dict(values or {}), dict(images or {}), fonts or FontSet.shipped()
    names = {box["Field"]: "Image" if box["Kind"] == "Image" else "Text" for box in boxes if "Field" in box}
    fields = [Field(name, type=kind) for name, kind in names.items()]
    sheet = page(*boxes) | whole | ({"Background": "back"} if artwork else {})
    record: dict[str, Any] = {"Pages": [sheet] * pages, "Gallery": gallery or {}}
    if artwork:
        record["Artwork"] = {"back": artwork}
    template = parse_template(record, fields, fonts)
    texts = render_proof(template, values, images, fonts).texts if is_rendered else ()
    rules = preset or PresetRules()
    press = Press(rules)
    job = PreflightInput(template, values, images, fonts, texts, product, press=press, die_lines=die_lines)
    return preflight(job, Limits.of(rules))


def text(words: str = "Dana Whitfield", **changes: Any) -> dict[str, Any]:
    return {"Kind": "Text", "Text": words, "Size": 10, "X": 8, "Y": 8, "Width": 60, "Height": 8} | changes


def photo(**changes: Any) -> dict[str, Any]:
    return {"Kind": "Image", "Field": "Photo", "X": 8, "Y": 20, "Width": 20, "Height": 15} | changes


def code(**changes: Any) -> dict[str, Any]:
    place = {"X": 60, "Y": 20, "Width": 20, "Height": 20}
    return {"Kind": "QRCode", "Text": "https://example.com/card"} | place | changes


def picture(width: int = 480, height: int = 360, mode: str = "RGB", form: str = "PNG", **saved: Any) -> bytes:
    """Two colors, so that there is something to see."""
    bright, dark = {
        "RGB": ((230, 120, 40), (20, 90, 120)),
        "L": (200, 40),
        "CMYK": ((10, 120, 200, 0), (150, 40, 20, 30)),
        "RGBA": ((230, 120, 40, 255), (20, 90, 120, 255)),
    }[mode]
    image = Image.new(mode, (width, height), bright)
    image.paste(dark, (0, 0, width // 2, height))
    return encoded(image, form, **saved)


def encoded(image: Image.Image, form: str = "PNG", **saved: Any) -> bytes:
    target = io.BytesIO()
    image.save(target, form, **saved)
    return target.getvalue()


def svg(inner: str, width: float = WIDTH, height: float = HEIGHT) -> dict[str, Any]:
    """Artwork in units of millimetres, over the card and its bleed."""
    size = f'viewBox="0 0 {width} {height}"'
    xml = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{inner}</svg>'
    return {"MediaType": "image/svg+xml", "Data": xml}


def raster(content: bytes, media_type: str = "image/png") -> dict[str, Any]:
    return {"MediaType": media_type, "Data": base64.b64encode(content).decode()}


def pdf(content: bytes, width: float = WIDTH, height: float = HEIGHT, **resources: Any) -> dict[str, Any]:
    """Artwork of one page with this content stream."""
    with pikepdf.new() as made:
        page = made.add_blank_page(page_size=(width * POINTS, height * POINTS))
        page.Contents = made.make_stream(content)
        page.Resources = pikepdf.Dictionary(**resources)
        target = io.BytesIO()
        made.save(target)
    return raster(target.getvalue(), "application/pdf")
