import hashlib
import io
import struct
import zlib
from dataclasses import replace
from pathlib import Path

from PIL import Image

from printing.typesetting import Field, Template, parse_template

DEMO = Path(__file__).parents[3] / "stores" / "demo" / "templates"
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
    return png(side)


def png(side, more=b"", pixels=b""):
    """`more` are chunks before those of the pixels, which are compressed already."""
    header = png_chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
    content = png_chunk(b"IDAT", pixels or zlib.compress(b""))
    return b"\x89PNG\r\n\x1a\n" + header + more + content + png_chunk(b"IEND", b"")


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def hard_texts(size: int) -> list[str]:
    """Long words, another direction in every other word, marks on marks, emoji of many parts, places to break."""
    word = "Donaudampfschiff"
    bidi = "שלום abc \u202eעולם\u202c 123 "
    marks = "e" + "\u0301\u0323\u0308" * 33 + " "
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 "
    soft = "in\u00adcom\u00adpre\u00adhen\u00adsi\u00adble\u200b"
    scripts = "क्षत्रिय 中文字 الكتابة fi ffl ﷺ "
    samples = [word, "W" * 40, bidi, marks, family, soft, scripts, word + bidi + family + scripts, "a\n"]
    return [(sample * (size // len(sample) + 1))[:size] for sample in samples]
