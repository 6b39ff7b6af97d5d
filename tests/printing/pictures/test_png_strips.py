"""PNG pictures a strip at a time: the same pixels as Pillow's, in the memory of one strip."""

import io
import random
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from PIL import Image

from printing.pictures import png_strips
from printing.pictures.png_strips import PngStrips, PngWriter

ROOT = Path(__file__).parents[3]
SIZE = (61, 47)
BANDS = {"1": "1", "L": "L", "P": "P", "LA": "LA", "RGB": "RGB", "RGBA": "RGBA", "I;16": "I;16"}


@pytest.fixture(autouse=True)
def _few_rows(monkeypatch):
    monkeypatch.setattr(png_strips, "STRIP_BYTES", 200)


def drawn(mode):
    """A gradient with noise, so that rows have different filters."""
    bytes_of_a_pixel = {"1": 1, "P": 1, "I;16": 2}.get(mode, len(mode))
    chance = random.Random(mode)
    shades = bytes(
        (column * 3 + row * 2 + chance.randrange(9)) % 256
        for row in range(SIZE[1])
        for column in range(SIZE[0] * bytes_of_a_pixel)
    )
    if mode == "1":
        return Image.frombytes("L", SIZE, shades).convert("1")
    picture = Image.frombytes(mode, SIZE, shades)
    if mode == "P":
        picture.putpalette([chance.randrange(256) for _ in range(768)])
    return picture


def file_of(picture, **options):
    out = io.BytesIO()
    picture.save(out, "PNG", **options)
    return out.getvalue()


def strips_of(content, multiple=1):
    with Image.open(io.BytesIO(content)) as picture:
        strips = PngStrips(content, picture)
        assert strips.is_possible
        return list(strips.strips(multiple))


def joined(strips, form):
    whole, top = Image.new(form, SIZE), 0
    for strip in strips:
        whole.paste(strip.convert(form), (0, top))
        top += strip.height
    assert top == SIZE[1]
    return whole


@pytest.mark.parametrize(
    ("mode", "options"),
    [
        *((mode, {}) for mode in BANDS),
        ("P", {"bits": 4}),
        ("P", {"transparency": bytes(range(256))}),
        ("RGB", {"transparency": (3, 4, 5)}),
    ],
)
def test_strips_are_the_pixels_of_the_whole_picture(mode, options):
    picture = drawn(mode)
    if "bits" in options:
        picture = picture.point(lambda value: value % 16)
    content = file_of(picture, **options)
    strips = strips_of(content)
    form = "I" if mode == "I;16" else "RGBA"

    assert len(strips) > 1
    with Image.open(io.BytesIO(content)) as whole:
        assert {strip.mode for strip in strips} == {whole.mode}
        assert joined(strips, form).tobytes() == whole.convert(form).tobytes()


def test_strips_have_multiples_of_rows():
    heights = [strip.height for strip in strips_of(file_of(drawn("L")), multiple=5)]
    assert heights == [5] * 9 + [2]


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA"])
def test_written_strips_are_read_as_one_picture(mode):
    picture, out = drawn(mode), io.BytesIO()
    writer = PngWriter(out, mode, SIZE, level=4)
    for top in range(0, SIZE[1], 10):
        writer.add(picture.crop((0, top, SIZE[0], min(top + 10, SIZE[1]))))
    writer.close()

    with Image.open(out) as read:
        read.verify()
    with Image.open(out) as read:
        assert (read.mode, read.size, read.tobytes()) == (mode, SIZE, picture.tobytes())


def with_data(data):
    content = file_of(drawn("RGB"))
    place = content.index(b"IDAT") - 4
    return content[:place] + png_strips._chunk(b"IDAT", data) + png_strips._chunk(b"IEND", b"")


@pytest.mark.parametrize(
    "content",
    [
        file_of(drawn("RGB"))[:-400],
        with_data(b""),
        with_data(b"no zlib"),
        with_data(zlib.compress(bytes(184 * 46))),
        with_data(zlib.compress(b"\x09" + bytes(184 * 47))),
        with_data(zlib.compress(bytes(184 * 47))[:-9]),
    ],
    ids=["cut", "empty", "not packed", "a row too few", "unknown filter", "packed data cut"],
)
def test_damaged_picture_is_an_error(content):
    with pytest.raises((OSError, SyntaxError)):
        strips_of(content)


def test_large_picture_takes_the_memory_of_a_strip(tmp_path):
    """Whole, 24 megapixels are 96 MB; converted, twice as much."""
    Image.linear_gradient("L").resize((6000, 4000)).convert("RGB").save(
        tmp_path / "picture", "PNG", compress_level=1
    )
    task = """
import re, sys
from pathlib import Path
from printing.press import uploads
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 1024
folder, before = Path(sys.argv[1]), peak()
assert uploads.decode_in_folder(folder)
uploads.shrink_in_folder(folder, [600, 400], "LANCZOS")
assert uploads.clean_in_folder(folder)["shape"] == ["PNG", 6000, 4000]
print(peak() - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", task, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert float(done.stdout) < 60
    with Image.open(tmp_path / "content") as clean, Image.open(tmp_path / "picture") as sent:
        assert clean.tobytes() == sent.tobytes()


class TestPicturesThatMustBeWhole:
    def strips(self, content):
        with Image.open(io.BytesIO(content)) as picture:
            return PngStrips(content, picture)

    def turned(self, value):
        exif = Image.Exif()
        exif[png_strips.ORIENTATION] = value
        return file_of(drawn("RGB"), exif=exif)

    def test_interlaced_and_deep_ones(self):
        header = lambda depth, interlaced: bytes([depth, 2, 0, 0, interlaced])  # noqa: E731
        for depth, interlaced, possible in ((8, 0, True), (8, 1, False), (16, 0, False)):
            sides = b"".join(side.to_bytes(4, "big") for side in SIZE)
            content = png_strips.SIGNATURE + png_strips._chunk(b"IHDR", sides + header(depth, interlaced))
            content += png_strips._chunk(b"IDAT", b"") + png_strips._chunk(b"IEND", b"")
            assert self.strips(content).is_possible is possible

    def test_those_turned_by_metadata_also_behind_the_rows(self):
        upright, turned = self.turned(1), self.turned(6)
        start = turned.index(b"eXIf") - 4
        end = start + 12 + int.from_bytes(turned[start : start + 4], "big")
        behind = turned[:start] + turned[end:-12] + turned[start:end] + turned[-12:]

        assert not self.strips(upright).may_be_turned
        assert self.strips(turned).may_be_turned
        assert self.strips(behind).may_be_turned
