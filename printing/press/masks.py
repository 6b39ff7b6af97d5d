"""Masks of pictures that are given in the picture's own colors, which a print file has no more.

A range of colors that is not painted becomes a stencil. What is mixed with the color of its edges (a matte) is
unmixed.
"""

import zlib
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

import pikepdf
from PIL import Image, ImageChops

from printing.press.objects import drop
from printing.press.paints import COMPONENTS, GRAY, OF_CMYK
from printing.press.pictures import jpeg_in
from printing.press.repaint import decode_picture, is_readable, kind_of

# At once, so that little beside the picture is in the memory.
ROWS = 64
PACKING = 2
# A picture takes so many times its samples while it is read, beside the results of those before it. The processes
# that do this have 310 MB in all.
TIMES, WORKING_BYTES = 4, 160 << 20
# What a file may say in place of numbers, and pictures that Pillow takes for attacks.
_ODD = (
    AttributeError,
    IndexError,
    KeyError,
    TypeError,
    ValueError,
    Image.DecompressionBombError,
    Image.DecompressionBombWarning,
)


def resolve_masks(pdf: pikepdf.Pdf) -> None:
    """Pictures in formats that are not read here, too large or with odd values stay as they are."""
    held_bytes, still_mixed = 0, set()
    unmixed: list[tuple[Any, Any]] = []
    for image in list(pdf.objects):
        if not isinstance(image, pikepdf.Stream) or str(image.get("/Subtype")) != "/Image":
            continue
        soft = image.get("/SMask")
        if isinstance(image.get("/Mask"), pikepdf.Array):
            if soft is None:
                held_bytes += _try_resolve(_cut_out, pdf, image, held_bytes)
            else:
                del image.Mask
        if isinstance(soft, pikepdf.Stream) and "/Matte" in soft:
            if size := _try_resolve(_unmix_matte, image, soft, held_bytes):
                held_bytes += size
                unmixed.append((image, soft))
            else:
                still_mixed.add(soft.objgen)
    _drop_mattes(unmixed, still_mixed)


def _drop_mattes(unmixed: list[tuple[Any, Any]], still_mixed: set[tuple[int, int]]) -> None:
    """A mask may belong to several pictures: those in `still_mixed` are still mixed with the matte."""
    for image, soft in unmixed:
        if soft.objgen in still_mixed:
            image.SMask = copy(soft)
        drop(image.SMask, "/Matte")


def _try_resolve(resolve: Callable[..., int], *values: Any) -> int:
    """The number of bytes that it wrote; none for a picture that stays as it is."""
    try:
        return resolve(*values)
    except _ODD:
        return 0


def _fits(image: Any, kind: str, held_bytes: int) -> bool:
    depth = 2 if int(image.get("/BitsPerComponent", 8)) == 16 else 1
    size = int(image.Width) * int(image.Height) * COMPONENTS[kind] * depth
    return TIMES * size + held_bytes <= WORKING_BYTES


def _cut_out(pdf: pikepdf.Pdf, image: Any, held_bytes: int) -> int:
    kind = kind_of(image.get("/ColorSpace"))
    ranges = [int(bound) for bound in image.Mask]
    if kind is None or len(ranges) != 2 * COMPONENTS[kind] or not is_readable(image, kind):
        return 0
    wide, high = int(image.Width), int(image.Height)
    content, depth = _read_samples(image, kind, (wide, high)) if _fits(image, kind, held_bytes) else (b"", 1)
    if len(content) < max(1, wide * high * COMPONENTS[kind] * depth):
        return 0
    packer = zlib.compressobj(PACKING)
    packed = [packer.compress(piece) for piece in _make_stencil(content, depth, ranges, wide, high)]
    content_of_stencil = b"".join([*packed, packer.flush()])
    stencil = pikepdf.Stream(
        pdf,
        content_of_stencil,
        Type=pikepdf.Name.XObject,
        Subtype=pikepdf.Name.Image,
        ImageMask=True,
        Width=wide,
        Height=high,
        BitsPerComponent=1,
        Filter=pikepdf.Name.FlateDecode,
    )
    image.Mask = pdf.make_indirect(stencil)
    return len(content_of_stencil)


def _read_samples(image: Any, kind: str, size: tuple[int, int]) -> tuple[bytes, int]:
    """Returns the samples as stored, and the bytes of one; nothing of a damaged picture."""
    try:
        if "/DCTDecode" not in str(image.get("/Filter")):
            return image.read_bytes(), int(image.get("/BitsPerComponent", 8)) // 8
        picture = jpeg_in(image)
        if picture.size != size or len(picture.getbands()) != COMPONENTS[kind]:
            return b"", 1
        # Pillow takes all inks of JPEGs to be stored as complements.
        return (ImageChops.invert(picture) if kind == OF_CMYK else picture).tobytes(), 1
    except (OSError, ValueError, pikepdf.PdfError):
        return b"", 1


def _make_stencil(content: bytes, depth: int, ranges: list[int], wide: int, high: int) -> Iterator[bytes]:
    """A bit of each pixel, set where all of its colors are in their ranges: it is not painted."""
    import numpy as np  # noqa: PLC0415 - heavy, and rarely needed

    lowest, highest = np.array(ranges[::2]), np.array(ranges[1::2])
    row = wide * len(lowest)
    for top in range(0, high, ROWS):
        count = row * min(ROWS, high - top)
        rows = np.frombuffer(content, f">u{depth}", count, top * row * depth).reshape(-1, wide, len(lowest))
        yield np.packbits(((rows >= lowest) & (rows <= highest)).all(axis=2), axis=1).tobytes()


def _unmix_matte(image: Any, soft: Any, held_bytes: int) -> int:
    kind = kind_of(image.get("/ColorSpace"))
    matte = [float(component) for component in soft.Matte]
    if kind is None or len(matte) != COMPONENTS[kind] or not is_readable(image, kind):
        return 0
    if not _fits(image, kind, held_bytes) or (image.Width, image.Height) != (soft.Width, soft.Height):
        return 0
    picture, opacity = decode_picture(image, kind), decode_picture(soft, GRAY)
    if picture is None or opacity is None or picture.size != opacity.size:
        return 0
    packer = zlib.compressobj(PACKING)
    packed = [packer.compress(piece) for piece in _unmixed_rows(picture, opacity, matte)]
    drop(image, "/Decode", "/DecodeParms")
    content = b"".join([*packed, packer.flush()])
    image.write(content, filter=pikepdf.Name.FlateDecode)
    image.BitsPerComponent = 8
    return len(content)


def _unmixed_rows(picture: Image.Image, opacity: Image.Image, matte: list[float]) -> Iterator[bytes]:
    import numpy as np  # noqa: PLC0415 - heavy, and rarely needed

    edge = np.array(matte, np.float32) * 255
    for top in range(0, picture.height, ROWS):
        box = (0, top, picture.width, min(top + ROWS, picture.height))
        mixed = np.asarray(picture.crop(box), np.float32).reshape(-1, len(matte))
        share = np.maximum(np.asarray(opacity.crop(box), np.float32).reshape(-1, 1) / 255, 1 / 255)
        yield np.clip(np.rint(edge + (mixed - edge) / share), 0, 255).astype(np.uint8).tobytes()
