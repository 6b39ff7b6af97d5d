"""The proof of a print file, drawn from its pages."""

import re
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO

import pikepdf
from PIL import Image

from printing.pictures import encode_picture
from printing.press.colors import Separation
from printing.press.objects import drop, image_stream, save_pdf
from printing.press.paints import Inks, SoftProof
from printing.press.plates import blend_overprint, cut_to_trim, join, total_ink, views
from printing.press.repaint import Repainter
from printing.press.screen import fit_pictures

# The resolution of pages that are kept as pictures: letters of 5 points can be read, and ten pages take some megabytes.
PPI = 200.0
PAGE_PIXELS = 8_000_000
# The opacities of the word across a proof, as layout.typ draws it: it is so faint that all ways to blend look alike.
# In ink it is as dark with less.
_OF_THE_MARK = (21 / 255, 56 / 255)
# Print files name what they hold outside of packed streams.
_OPACITY = re.compile(rb"/(?:ca|CA) ([\d.]+)")
_BLENDING = re.compile(
    rb"/DeviceN\b|/ShadingType [14567]|/SMask [\d<]|/BM ?(?:\[|/(?!Normal\b|Compatible\b))"
)
JPEG = {"quality": 92, "subsampling": 0}

# A picture of page `number`, from 0, of a PDF, at so many pixels per inch.
Draw = Callable[[bytes, int, float], bytes]


def draw_proof(
    printed: bytes, separation: Separation, draw: Draw, ppi: float, *, is_cmyk: bool
) -> tuple[bytes, list[bytes]]:
    """The PDF and the PNG of each page. Pages that blend colors are pictures in the PDF: screens blend otherwise."""
    with pikepdf.open(BytesIO(printed)) as pdf:
        sizes = [_measure_inches(page) for page in pdf.pages]
    if _is_flat(printed):
        proof = _in_screen_colors(printed, separation, is_cmyk=is_cmyk)
        return proof, [
            _encode_png(picture) for picture in _draw_pictures(printed, separation, draw, [ppi] * len(sizes))
        ]
    fine = [max(ppi, min(PPI, (PAGE_PIXELS / (width * height)) ** 0.5)) for width, height in sizes]
    pictures = list(_draw_pictures(printed, separation, draw, fine))
    small = [
        picture.resize((round(width * ppi), round(height * ppi)), Image.Resampling.BOX)
        for picture, (width, height) in zip(pictures, sizes, strict=True)
    ]
    return _picture_pdf(pictures, sizes), [_encode_png(picture) for picture in small]


def draw_inks(
    printed: bytes, separation: Separation, draw: Draw, ppi: float, *, overprints: bool
) -> list[bytes]:
    """The PNG of each page as `total_ink` of its plates."""
    colors, black = views(fit_pictures(blend_overprint(printed) if overprints else printed, ppi), separation)
    with pikepdf.open(BytesIO(colors)) as pdf:
        count = len(pdf.pages)
    pictures = (
        [Image.open(BytesIO(draw(view, number, ppi))) for view in (colors, black)] for number in range(count)
    )
    return [_encode_png(total_ink(*pair)) for pair in pictures]


def _is_flat(printed: bytes) -> bool:
    """Whether each color can be replaced by what it looks like."""
    clear = (float(number) for number in _OPACITY.findall(printed))
    return not _BLENDING.search(printed) and all(
        opacity >= 1 or any(abs(opacity - mark) < 0.001 for mark in _OF_THE_MARK) for opacity in clear
    )


def _draw_pictures(
    printed: bytes, separation: Separation, draw: Draw, ppi: Sequence[float]
) -> Iterator[Image.Image]:
    colors, black = views(fit_pictures(printed, max(ppi)), separation)
    for number, resolution in enumerate(ppi):
        pictures = [Image.open(BytesIO(draw(view, number, resolution))) for view in (colors, black)]
        yield join(pictures[0], pictures[1], separation)


def _in_screen_colors(printed: bytes, separation: Separation, *, is_cmyk: bool) -> bytes:
    with pikepdf.open(BytesIO(printed)) as pdf:
        Repainter(pdf, SoftProof(separation, Inks(separation) if is_cmyk else None)).run()
        for page in pdf.pages:
            cut_to_trim(page)
            if "/Group" in page.obj:
                page.obj.Group.CS = pikepdf.Name.DeviceRGB
        return _save_pdf(pdf)


def _picture_pdf(pictures: Sequence[Image.Image], sizes: Sequence[tuple[float, float]]) -> bytes:
    with pikepdf.new() as pdf:
        for picture, (width, height) in zip(pictures, sizes, strict=True):
            content = encode_picture(picture, "JPEG", **JPEG)
            image = image_stream(pdf, content, picture.size, "/DeviceRGB", "/DCTDecode")
            page = pdf.add_blank_page(page_size=(width * 72, height * 72)).obj
            page.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(Page=image))
            page.Contents = pdf.make_stream(b"%.4f 0 0 %.4f 0 0 cm /Page Do" % (width * 72, height * 72))
        return _save_pdf(pdf)


def _save_pdf(pdf: pikepdf.Pdf) -> bytes:
    drop(pdf.Root, "/OutputIntents", "/Metadata")
    drop(pdf.trailer, "/Info")
    pdf.remove_unreferenced_resources()
    return save_pdf(pdf, static_id=True)


def _measure_inches(page: pikepdf.Page) -> tuple[float, float]:
    left, bottom, right, top = (float(side) for side in page.trimbox)
    return (right - left) / 72, (top - bottom) / 72


def _encode_png(picture: Image.Image) -> bytes:
    return encode_picture(picture, "PNG", compress_level=4)
