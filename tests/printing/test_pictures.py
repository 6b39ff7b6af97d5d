"""What a decoder keeps of a JPEG until its end, known from its header."""

import errno
import io
import os
import zlib

import pikepdf
import pytest
from PIL import Image, ImageCms, PngImagePlugin

from printing.pictures import (
    CHUNKS,
    ORIENTATION,
    SCANS,
    SEGMENTS,
    PictureTooLarge,
    PictureUnreadable,
    check_scans,
    essential_parts,
    held_samples,
    open_picture,
    orientation_of,
    readable,
)
from printing.preflight.pictures import facts_of, picture_cache
from printing.press import isolation
from printing.press.objects import image_stream
from printing.press.pictures import has_plates, jpeg_in, reshape
from printing.press.uploads import UploadRefused
from printing.typesetting.artwork import measure_picture, shrink_picture

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


def segment(marker, data):
    return marker + (len(data) + 2).to_bytes(2, "big") + data


def chunk(name, data=b""):
    return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")


def with_part(form, part, place=b"IDAT"):
    content = saved(form=form)
    start = content.index(SCAN_OF_THREE) if form == "JPEG" else content.index(place) - 4
    return content[:start] + part + content[start:]


EXPANDED = zlib.compress(bytes(900_000))
HEAVY_PARTS = {
    "JPEG": [
        *(
            segment(marker, b"x" * 100)
            for marker in (b"\xff\xfe", b"\xff\xe5", b"\xff\xed", b"\xff\xe0", b"\xff\xde")
        ),
        segment(b"\xff\xe1", b"http://ns.adobe.com/xap/1.0/\0"),
        segment(b"\xff\xe2", b"MPF\0"),
        segment(b"\xff\xe0", b"JFIF\0"),
        *(b"\xff\xd0", b"\xff\xc8", b"\xff\xf0", b"\xff\xff\xff", b"ab"),
    ],
    "PNG": [
        chunk(b"tEXt", b"a\0"),
        chunk(b"zTXt", b"\0\0" + EXPANDED),
        chunk(b"iTXt", b"a\0\1\0\0\0" + EXPANDED),
        chunk(b"tEXt", b"Raw profile type exif\0" + bytes(100)),
        *(chunk(b"eXIf", bytes(0x10001)), chunk(b"fdAT", bytes(8)), chunk(b"prVt")),
    ],
}


@pytest.mark.parametrize(
    ("form", "part"), [(form, part) for form, parts in HEAVY_PARTS.items() for part in parts]
)
def test_parts_that_pixels_do_not_need_are_not_read(form, part):
    """For 10 MB of small ones, of compressed texts or of metadata, Pillow took up to 25 seconds and 400 MB."""
    content = with_part(form, part * 20)

    assert essential_parts(content) == essential_parts(saved(form=form))
    assert isolation.clean(content).width == SIZE[0]


@pytest.mark.usefixtures("tasks_in_this_process")
@pytest.mark.parametrize("large", [isolation.LARGE_PIXELS, 1])
def test_no_use_of_a_template_picture_reads_its_other_parts(monkeypatch, large):
    monkeypatch.setattr(isolation, "LARGE_PIXELS", large)
    picture_cache.clear()
    content, read = with_part("PNG", chunk(b"zTXt", b"a\0\0" + EXPANDED) * 20), []
    monkeypatch.setattr(PngImagePlugin.PngStream, "chunk_zTXt", lambda *found: read.append(found))

    assert measure_picture(content) == SIZE
    assert facts_of(content) is not None
    assert not has_plates(content)
    assert reshape(content, 1.0, crop=True)
    assert shrink_picture(content, (8, 6))
    assert not isolation.is_large_to_render(content)
    assert read == []


def test_jpeg_of_a_pdf_is_opened_without_its_other_parts():
    """One of 10 MB took a renderer 5 seconds."""
    plain, part = saved(), segment(b"\xff\xed", b"x" * 100)
    with pikepdf.new() as pdf:
        image = image_stream(pdf, with_part("JPEG", part * 20), SIZE, "/DeviceRGB", "/DCTDecode")

        assert jpeg_in(image).applist == Image.open(io.BytesIO(plain)).applist


@pytest.mark.parametrize(
    ("form", "part"),
    [
        ("PNG", chunk(b"iCCP", b"a\0\0" + EXPANDED)),
        ("PNG", chunk(b"eXIf", bytes(100))),
        ("JPEG", segment(b"\xff\xe1", b"Exif\0\0" + bytes(60_000))),
        ("JPEG", segment(b"\xff\xee", b"Adobe")),
    ],
)
def test_profile_and_metadata_are_read_once(form, part):
    """Pillow expands each profile of a PNG, joins the metadata of a JPEG, and makes objects of numbers in them."""
    assert essential_parts(with_part(form, part * 20)) == essential_parts(with_part(form, part))


def test_picture_keeps_its_profile_and_how_it_is_turned():
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    turned = Image.Exif()
    turned[ORIENTATION] = 6
    for form in ("PNG", "JPEG"):
        content = saved(
            form=form, icc_profile=profile * (1 if form == "PNG" else 60), exif=turned, dpi=(300, 300)
        )

        opened = open_picture(content, (form,), lambda _: None)

        with Image.open(io.BytesIO(content)) as original:
            assert opened.tobytes() == original.tobytes()
            assert opened.info["icc_profile"] == original.info["icc_profile"]
        assert (orientation_of(opened), round(opened.info["dpi"][0])) == (6, 300)


@pytest.mark.parametrize(
    ("form", "part", "most"),
    [
        ("JPEG", b"\xff\xfe\0\2", SEGMENTS),
        ("JPEG", b"\xff\xd0", SEGMENTS),
        ("PNG", chunk(b"tEXt", b"a\0"), CHUNKS),
    ],
)
def test_picture_of_very_many_parts_is_refused(form, part, most):
    assert isolation.clean(with_part(form, part * (most - 20))).width == SIZE[0]

    with pytest.raises(UploadRefused, match="not a readable"):
        isolation.clean(with_part(form, part * (most + 1)))


def test_jpeg_of_a_second_frame_is_refused():
    """Programs read different ones, and Pillow keeps what each lists."""
    frame = segment(b"\xff\xc0", b"\x08\0\x30\0\x40\3" + bytes(9))

    with pytest.raises(PictureUnreadable):
        essential_parts(with_part("JPEG", frame))


def test_what_follows_a_picture_in_its_file_is_no_part():
    """Programs that write a smaller picture over a larger one leave the rest of it."""
    for form in ("PNG", "JPEG"):
        assert open_picture(saved(form=form) + bytes(20 * CHUNKS), (form,), lambda _: None).size == SIZE


def test_errors_of_the_system_are_no_faults_of_the_picture():
    with pytest.raises(OSError, match="Too many open files"), readable():
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    with pytest.raises(PictureUnreadable), readable():
        raise OSError("broken data stream when reading image file")
