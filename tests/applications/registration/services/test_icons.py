"""The icon table of D21: what is taken, what is refused, and what is kept of it."""

import struct
import zlib
from io import BytesIO
from random import Random

import pytest
from PIL import Image, PngImagePlugin

from applications.registration.services.icons import set_icon
from fulfillment.core.errors import Invalid

SIDE = 215


def picture(mode="RGB", size=(SIDE, SIDE), color=None):
    return Image.new(mode, size, color if color is not None else 0)


def encoded(image, image_format, **options):
    out = BytesIO()
    image.save(out, image_format, **options)
    return out.getvalue()


def noise(mode="RGB", size=(SIDE, SIDE), seed=7):
    count = len(mode) if mode in {"RGB", "RGBA"} else 1
    return Image.frombytes(mode, size, Random(seed).randbytes(size[0] * size[1] * count))


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_claiming(width, height, bits=8, color_type=2, body=b"\0" * 100):
    header = struct.pack(">IIBBBBB", width, height, bits, color_type, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        [png_chunk(b"IHDR", header), png_chunk(b"IDAT", zlib.compress(body)), png_chunk(b"IEND", b"")]
    )


def padded(content, length):
    """A PNG stays readable with bytes after its end."""
    return content + b"\0" * (length - len(content))


def animated_png():
    frames = [picture(color="red"), picture(color="blue")]
    return encoded(frames[0], "PNG", save_all=True, append_images=frames[1:])


def with_text_chunk(length):
    info = PngImagePlugin.PngInfo()
    info.add_text("Comment", "x" * length, zip=True)
    return encoded(picture(), "PNG", pnginfo=info)


def with_exif():
    exif = Image.Exif()
    exif[0x010E] = "made by somebody"
    return encoded(picture(), "JPEG", exif=exif)


def run_length_bmp():
    """215 x 215 pixels, 8 bits, RLE8: each row one run of 215, then end of line."""
    rows = (b"\xd7\x01\0\0") * SIDE + b"\0\1"
    palette = b"\0\0\0\0\xff\xff\xff\0" * 128
    offset = 14 + 40 + len(palette)
    header = struct.pack("<IIIHHIIIIII", 40, SIDE, SIDE, 1, 8, 1, len(rows), 0, 0, 256, 0)
    return b"BM" + struct.pack("<IHHI", offset + len(rows), 0, 0, offset) + header + palette + rows


PNG = encoded(picture(color="teal"), "PNG")
JPEG = encoded(picture(color="teal"), "JPEG")

TAKEN = {
    "png rgb": PNG,
    "png rgba": encoded(picture("RGBA", color=(1, 2, 3, 4)), "PNG"),
    "png palette": encoded(picture("P"), "PNG"),
    "png palette with transparency": encoded(picture("P"), "PNG", transparency=0),
    "png gray": encoded(picture("L"), "PNG"),
    "png gray with alpha": encoded(picture("LA"), "PNG"),
    "png 16 bit": encoded(picture("I;16"), "PNG"),
    "png one bit": encoded(picture("1"), "PNG"),
    "png with small text": with_text_chunk(500),
    "jpeg": JPEG,
    "jpeg progressive": encoded(noise(), "JPEG", progressive=True, quality=60),
    "jpeg gray": encoded(picture("L"), "JPEG"),
    "jpeg cmyk": encoded(picture("CMYK"), "JPEG"),
    "jpeg with exif": with_exif(),
    "bmp 8 bit": encoded(picture("P"), "BMP"),
    "bmp gray": encoded(picture("L"), "BMP"),
    "bmp one bit": encoded(picture("1"), "BMP"),
    "bmp run length": run_length_bmp(),
    "png of 102,399 bytes": padded(PNG, 102_399),
    "png followed by html": PNG + b"<script>alert(1)</script>",
    "compressed text bomb": with_text_chunk(30_000_000),
    "png followed by zip": PNG + b"PK\x03\x04" + b"\0" * 50,
}

REFUSED = {
    "nothing": (b"", "icon_empty"),
    "one byte": (b"\x89", "icon_unreadable"),
    "text": (b"not an image", "icon_unreadable"),
    "html": (b"<html><img></html>", "icon_unreadable"),
    "svg": (b'<svg xmlns="http://www.w3.org/2000/svg" width="215" height="215"/>', "icon_unreadable"),
    "php": (b"<?php echo 1; ?>", "icon_unreadable"),
    "zip": (b"PK\x03\x04" + b"\0" * 100, "icon_unreadable"),
    "pdf": (b"%PDF-1.7\n", "icon_unreadable"),
    "gif": (encoded(picture("P"), "GIF"), "icon_unreadable"),
    "tiff": (encoded(picture(), "TIFF", compression="tiff_deflate"), "icon_unreadable"),
    "webp": (encoded(picture(), "WEBP"), "icon_unreadable"),
    "ico": (encoded(picture(), "ICO", sizes=[(64, 64)]), "icon_unreadable"),
    "ppm": (encoded(picture("1"), "PPM"), "icon_unreadable"),
    "214 x 215": (encoded(picture(size=(214, 215)), "PNG"), "icon_dimensions"),
    "215 x 214": (encoded(picture(size=(215, 214)), "PNG"), "icon_dimensions"),
    "216 x 216": (encoded(picture(size=(216, 216)), "PNG"), "icon_dimensions"),
    "94 x 94": (encoded(picture(size=(94, 94)), "PNG"), "icon_dimensions"),
    "1 x 1 jpeg": (encoded(picture(size=(1, 1)), "JPEG"), "icon_dimensions"),
    "12000 x 12000 one bit": (encoded(picture("1", size=(12000, 12000)), "PNG"), "icon_dimensions"),
    "65535 x 65535 claimed": (png_claiming(65535, 65535), "icon_dimensions"),
    "two gigapixels claimed": (png_claiming(2**31 - 1, 2**31 - 1), "icon_dimensions"),
    "zero claimed": (png_claiming(0, 215), "icon_unreadable"),
    "animated": (animated_png(), "icon_animated"),
    "png cut in the header": (PNG[:20], "icon_unreadable"),
    "png cut in the data": (encoded(noise("L"), "PNG")[:9000], "icon_unreadable"),
    "png without data": (png_claiming(SIDE, SIDE), "icon_unreadable"),
    "png with a broken checksum": (PNG[:29] + b"\0\0\0\0" + PNG[33:], "icon_unreadable"),
    "jpeg cut": (encoded(noise(), "JPEG", quality=50)[:4000], "icon_unreadable"),
    "bmp cut": (encoded(picture("L"), "BMP")[:3000], "icon_unreadable"),
    "bmp 24 bit is always too large": (encoded(picture(), "BMP"), "icon_too_large"),
    "png of 102,400 bytes": (padded(PNG, 102_400), "icon_too_large"),
    "png of 102,401 bytes": (padded(PNG, 102_401), "icon_too_large"),
    "png of noise": (encoded(noise(), "PNG"), "icon_too_large"),
}


@pytest.fixture
def application(world):
    return world.application


@pytest.mark.parametrize("name", TAKEN)
def test_icon_taken_is_kept_as_clean_png(application, name):
    icon = set_icon(application=application, content=TAKEN[name])

    for kept, side in ((icon.image, 215), (icon.central_image, 94)):
        stored = Image.open(BytesIO(kept))
        assert (stored.format, stored.size) == ("PNG", (side, side))
        assert not stored.info.keys() - {"transparency"}
        assert b"script" not in kept
        assert b"somebody" not in kept


@pytest.mark.parametrize("name", REFUSED)
def test_icon_refused_says_what_is_allowed(application, name):
    content, code = REFUSED[name]

    with pytest.raises(Invalid) as refusal:
        set_icon(application=application, content=content)

    assert refusal.value.code == code
    assert "215 × 215" in refusal.value.message
    assert not hasattr(type(application).objects.get(pk=application.pk), "icon")


def test_icon_refusal_of_a_24_bit_bmp_names_the_way_out(application):
    with pytest.raises(Invalid, match="24-bit BMP"):
        set_icon(application=application, content=REFUSED["bmp 24 bit is always too large"][0])


def test_icon_marks_artwork_outside_the_center(application):
    inside = picture(color="white")
    inside.paste("black", (70, 70, 140, 140))
    outside = picture(color="white")
    outside.paste("black", (10, 10, 30, 30))

    assert not set_icon(application=application, content=encoded(inside, "PNG")).reaches_outside_centre
    assert set_icon(application=application, content=encoded(outside, "PNG")).reaches_outside_centre


def test_icon_set_again_replaces_the_first(application):
    first = set_icon(application=application, content=PNG).sha256
    second = set_icon(application=application, content=encoded(picture(color="red"), "PNG")).sha256

    application.refresh_from_db()
    assert first != second
    assert application.icon.sha256 == second
