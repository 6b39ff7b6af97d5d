"""Pictures of a PDF at the size at which a screen shows it.

The renderer of PDFs draws stripes into pictures that it scales down itself (seen at 1.13 to 1.33 times the pixels
of the screen), and takes longer for it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pikepdf
from PIL import Image

from printing.pictures import encode_picture
from printing.press.objects import UNPACKED, drop, get_dictionary, save_pdf
from printing.press.repaint import decode_picture, kind_of
from printing.press.streams import IDENTITY, Matrix, matrix_from, times

MAX_DEPTH = 12
_FOLLOWED = "q Q cm Do gs"
_HOLDING = {"/XObject", "/ExtGState", "/Pattern"}


@dataclass(slots=True)
class _Drawn:
    """An image and the most pixels of a screen that it covers."""

    image: Any
    width: float = 0.0
    height: float = 0.0


def open_pdf(content: bytes | Path) -> pikepdf.Pdf:
    return pikepdf.open(content if isinstance(content, Path) else BytesIO(content))


def fit_pictures(content: bytes | Path, ppi: float, *, quality: int | None = None) -> bytes:
    """The PDF with no more pixels in its pictures than a screen of this resolution shows.

    For a path, returns b"" if nothing has to shrink.

    With a `quality` those in RGB or gray become JPEGs: many of them fit into the memory.
    """
    with open_pdf(content) as pdf:
        drawn: dict[tuple[int, int], _Drawn] = {}
        for page in pdf.pages:
            for image, width, height in _find_pictures(page.obj, page.obj.get("/Resources"), IDENTITY, 0):
                pictured = drawn.setdefault(image.objgen, _Drawn(image))
                pictured.width, pictured.height = max(pictured.width, width), max(pictured.height, height)
        shrunk = [
            _shrink_picture(picture, ppi / 72, quality)
            for picture in drawn.values()
            if picture.image.is_indirect
        ]
        if not any(shrunk):
            return b"" if isinstance(content, Path) else content
        return save_pdf(pdf, **UNPACKED)


def _find_pictures(
    stream: Any, resources: Any, start: Matrix, depth: int
) -> Iterator[tuple[Any, float, float]]:
    """Yields each picture for every time it is drawn, its masks too, with its size in points."""
    if resources is None or depth > MAX_DEPTH or not _HOLDING & set(resources.keys()):
        return
    for pattern in get_dictionary(resources, "/Pattern").values():
        if isinstance(pattern, pikepdf.Stream):
            yield from _find_pictures(
                pattern, pattern.get("/Resources"), _matrix_of(pattern, IDENTITY), depth + 1
            )
    matrix, stack = start, list[Matrix]()
    for instruction in pikepdf.parse_content_stream(stream, _FOLLOWED):
        name = str(instruction.operator)
        if name == "q":
            stack.append(matrix)
        elif name == "Q":
            matrix = stack.pop() if stack else matrix
        elif name == "cm":
            matrix = times(matrix, matrix_from(instruction.operands))
        elif name in {"Do", "gs"}:
            yield from _pictures_drawn(
                _drawn_by(resources, name, str(instruction.operands[0])), resources, matrix, depth
            )


def _drawn_by(resources: Any, operator: str, name: str) -> Any:
    """The form or picture, or the form that becomes a mask."""
    if operator == "Do":
        return get_dictionary(resources, "/XObject").get(name)
    mask = get_dictionary(resources, "/ExtGState").get(name, pikepdf.Dictionary()).get("/SMask")
    return mask.get("/G") if isinstance(mask, pikepdf.Dictionary) else None


def _pictures_drawn(
    xobject: Any, resources: Any, matrix: Matrix, depth: int
) -> Iterator[tuple[Any, float, float]]:
    if xobject is None:
        return
    if xobject.get("/Subtype") == "/Form":
        inner = xobject.get("/Resources", resources)
        yield from _find_pictures(xobject, inner, _matrix_of(xobject, matrix), depth + 1)
    elif xobject.get("/Subtype") == "/Image":
        size = math.hypot(matrix[0], matrix[1]), math.hypot(matrix[2], matrix[3])
        yield xobject, *size
        if (mask := xobject.get("/SMask")) is not None and "/Matte" not in mask:
            yield mask, *size


def _shrink_picture(drawing: _Drawn, scale: float, quality: int | None) -> bool:
    """Whether the picture had too many pixels, and could be read."""
    image = drawing.image
    width, height = int(image.Width), int(image.Height)
    across = min(width, max(1, math.ceil(drawing.width * scale)))
    down = min(height, max(1, math.ceil(drawing.height * scale)))
    kind = kind_of(image.get("/ColorSpace"))
    if (across, down) == (width, height) or kind is None or _is_masked_by_colors(image):
        return False
    if (picture := decode_picture(image, kind, (across, down))) is None:
        return False
    picture = picture.resize((across, down), Image.Resampling.BICUBIC, reducing_gap=2.0)
    drop(image, "/Decode", "/DecodeParms")
    if quality is not None and picture.mode in {"L", "RGB"}:
        encoded = encode_picture(picture, "JPEG", quality=quality)
        image.write(encoded, filter=pikepdf.Name.DCTDecode)
    else:
        image.write(picture.tobytes())
    image.Width, image.Height, image.BitsPerComponent = across, down, 8
    return True


def _is_masked_by_colors(image: Any) -> bool:
    """Whether its mask is in its own colors or pixels; preparation leaves only what it could not read."""
    is_matte = "/Matte" in image or "/Matte" in image.get("/SMask", pikepdf.Dictionary())
    return is_matte or isinstance(image.get("/Mask"), pikepdf.Array)


def _matrix_of(holder: Any, outer: Matrix) -> Matrix:
    own = holder.get("/Matrix")
    return outer if own is None else times(outer, matrix_from(own))
