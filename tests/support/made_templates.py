import hashlib
import io
import struct
import zlib
from dataclasses import replace
from pathlib import Path

from PIL import Image

from printing.typesetting import Field, Template, parse_template

DEMO = Path(__file__).parents[2] / "stores" / "demo" / "templates"
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 94.9 56.8">'
    '<rect width="95" height="57" fill="#0b2545"/></svg>'
)


def text_box(**changes):
    return {"Field": "Words", "Kind": "Text", "X": 5, "Y": 5, "Width": 78, "Height": 40, "Size": 10} | changes


def card(*boxes, **page):
    whole = {"WidthMM": 88.9, "HeightMM": 50.8, "BleedMM": 3, "Boxes": list(boxes)} | page
    return {"Pages": [whole], "Artwork": {"card.svg": {"MediaType": "image/svg+xml", "Data": SVG}}}


def words_template(**changes) -> Template:
    return parse_template(card(text_box(**changes)), [Field("Words")])


def unread_artwork(svg, *boxes, fields=("Words",), **page) -> Template:
    """A card with this SVG behind it, as if the reader of artwork had found nothing wrong with it."""
    template = parse_template(card(*boxes, Background="card.svg", **page), [Field(name) for name in fields])
    data = svg.encode()
    artwork = replace(template.artwork["card.svg"], data=data, digest=hashlib.sha256(data).hexdigest())
    return replace(template, artwork={"card.svg": artwork})


def picture(width, height, form="PNG", color=(200, 80, 40)):
    target = io.BytesIO()
    Image.new("RGB", (width, height), color).save(target, form)
    return target.getvalue()


def huge_picture(side=30_000):
    """A PNG of a few bytes that says it has a billion pixels."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b""))
        + chunk(b"IEND", b"")
    )
