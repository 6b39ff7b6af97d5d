"""What a decoder keeps of a JPEG until its end, known from its header."""

import errno
import io
import os
import zlib

import pytest
from PIL import Image

from printing.pictures import (
    CHUNKS,
    SCANS,
    SEGMENTS,
    PictureTooLarge,
    PictureUnreadable,
    check_parts,
    check_scans,
    held_samples,
    open_picture,
    readable,
)
from printing.press import isolation
from printing.press.uploads import UploadRefused

SIZE = (64, 48)
PIXELS = SIZE[0] * SIZE[1]
SCAN_OF_THREE, SCAN_OF_ONE = b"\xff\xda\0\x0c\3", b"\xff\xda\0\x08\1"


def samples(content):
    with Image.open(io.BytesIO(content)) as picture:
        held = held_samples(picture)
        assert picture.load() is not None, "it is decoded from its start afterwards"
        return held


def saved(mode="RGB", form="JPEG", **options):
    out = io.BytesIO()
    Image.new(mode, SIZE).save(out, form, **options)
    return out.getvalue()


def test_picture_in_one_scan_is_not_kept():
    found = [samples(saved(mode)) for mode in ("L", "RGB", "CMYK")]
    padded = saved().replace(b"\xff\xdb", b"\xff\xff\xff\xdb", 1)

    assert [*found, samples(saved(form="PNG")), samples(padded)] == [0] * 5


@pytest.mark.parametrize(
    ("mode", "subsampling", "times"),
    [("L", 0, 1), ("RGB", 0, 3), ("RGB", 1, 2), ("RGB", 2, 1.5), ("CMYK", 0, 4)],
)
def test_progressive_picture_is_kept_with_all_of_its_colors(mode, subsampling, times):
    assert samples(saved(mode, progressive=True, subsampling=subsampling)) == PIXELS * times


def test_picture_with_a_scan_for_each_color_is_kept():
    content = saved(subsampling=0)
    start = content.index(SCAN_OF_THREE) + len(SCAN_OF_THREE)
    changed = content[: start - 5] + SCAN_OF_ONE + content[start : start + 2] + content[start + 6 :]

    with Image.open(io.BytesIO(changed)) as picture:
        assert held_samples(picture) == PIXELS * 3


def test_picture_of_many_scans_is_refused_before_decoding():
    """One of 8 megapixels and 10 MB, with its last scan repeated half a million times, took a thread for 42 minutes."""
    content = saved("L", progressive=True)
    last = content[content.rindex(b"\xff\xda") : -2]
    most = content[:-2] + last * (SCANS - content.count(b"\xff\xda")) + content[-2:]

    assert open_picture(most, ("JPEG",), lambda _: None).size == SIZE
    with pytest.raises(PictureTooLarge, match="in 101 scans; at most 100"):
        open_picture(most[:-2] + last + most[-2:], ("JPEG",), check_scans)


@pytest.mark.parametrize("part", [b"\xff\xfe\0\2", b"\xff\xe5\0\3a", b"\xff\xd0", b"\xff", b"a"])
def test_jpeg_of_very_many_parts_is_refused_before_it_is_opened(part):
    """10 MB took a web process up to 8 seconds without a break, and up to 340 MB."""
    content = saved()
    start = content.index(SCAN_OF_THREE)
    assert isolation.clean(content[:start] + part * (SEGMENTS - 20) + content[start:]).width == SIZE[0]

    with pytest.raises(UploadRefused, match="not a readable"):
        isolation.clean(content[:start] + part * (SEGMENTS + 1) + content[start:])


@pytest.mark.parametrize("marker", [b"\xff\xc8", b"\xff\xf0", b"\xff\xfd"])
def test_marker_without_a_length_hides_no_parts_of_a_jpeg(marker):
    """The two bytes behind it are no length for Pillow, which took 4 seconds for 10 MB of parts behind such markers."""
    content = saved()
    start = content.index(SCAN_OF_THREE)
    parts = b"\xff\xfe\0\2" * (0xFF00 // 4)

    with pytest.raises(UploadRefused, match="not a readable"):
        isolation.clean(content[:start] + marker + parts + content[start:])
    with pytest.raises(PictureUnreadable):
        check_parts(content[:start] + marker + parts + content[start:])


def test_jpeg_of_many_frames_is_refused_before_it_is_opened():
    content = saved()
    start = content.index(SCAN_OF_THREE)
    frame = b"\xff\xc0\xff\xfb\x08\0\x30\0\x40\3" + bytes(0xFFF3)

    with pytest.raises(PictureUnreadable):
        check_parts(content[:start] + frame * 10 + content[start:])


@pytest.mark.parametrize("place", [b"IDAT", b"IEND"])
def test_png_of_many_profiles_is_refused_before_it_is_opened(place):
    """Each is expanded: 10 MB took 20 seconds of processor time."""
    content = saved(form="PNG")
    start = content.index(place) - 4
    data = b"iCCPa\0\0" + zlib.compress(bytes(900_000))
    profile = (len(data) - 4).to_bytes(4, "big") + data + zlib.crc32(data).to_bytes(4, "big")
    assert isolation.clean(content[:start] + profile * 2 + content[start:]).width == SIZE[0]

    with pytest.raises(UploadRefused, match="not a readable"):
        isolation.clean(content[:start] + profile * 11 + content[start:])


@pytest.mark.parametrize("place", [b"IDAT", b"IEND"])
def test_png_of_very_very_many_parts_is_refused_before_it_is_opened(place):
    content = saved(form="PNG")
    start = content.index(place) - 4
    text = b"\0\0\0\2tEXta\0" + zlib.crc32(b"tEXta\0").to_bytes(4, "big")
    assert isolation.clean(content[:start] + text * (CHUNKS - 20) + content[start:]).width == SIZE[0]

    with pytest.raises(UploadRefused, match="not a readable"):
        isolation.clean(content[:start] + text * (CHUNKS + 1) + content[start:])


def test_what_follows_a_picture_in_its_file_is_no_part():
    """Programs that write a smaller picture over a larger one leave the rest of it."""
    for form in ("PNG", "JPEG"):
        assert open_picture(saved(form=form) + bytes(20 * CHUNKS), (form,), lambda _: None).size == SIZE


def test_errors_of_the_system_are_no_faults_of_the_picture():
    with pytest.raises(OSError, match="Too many open files"), readable():
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    with pytest.raises(PictureUnreadable), readable():
        raise OSError("broken data stream when reading image file")
