"""Output profiles come from outside: they are tried in a process of their own."""

import io
import struct

import pytest
from PIL import Image, ImageCms

from printing.bounded import TaskFailed
from printing.press import colors
from printing.press.profiles import SHIPPED, ProfileInvalid
from printing.press.uploads import clean_upload


@pytest.mark.parametrize("fault", [TaskFailed("ended with -11"), {"fault": "PyCMSError"}])
def test_profile_that_ends_its_process_is_refused(monkeypatch, fault):
    class Bounded:
        def __init__(self, *args, **options):
            pass

        def __enter__(self):
            if isinstance(fault, Exception):
                raise fault
            return fault, None

        def __exit__(self, *args):
            return False

    monkeypatch.setattr(colors, "run_bounded", Bounded)

    with pytest.raises(ProfileInvalid) as refused:
        colors.read_profile(SHIPPED.read_bytes())

    assert refused.value.code == "profile_unusable"


def test_damaged_tables_are_refused_before_a_print_file_needs_them():
    """The header and the list of tags are right, the tables of colors lie outside of the file."""
    content = bytearray(SHIPPED.read_bytes())
    count = struct.unpack(">I", content[128:132])[0]
    for at in range(count):
        place = 132 + 12 * at
        if bytes(content[place : place + 3]) in {b"B2A", b"A2B"}:
            content[place + 4 : place + 8] = struct.pack(">I", 0xFFFFFF00)

    with pytest.raises(ProfileInvalid) as refused:
        colors.read_profile(bytes(content))

    assert refused.value.code == "profile_unusable"


@pytest.mark.parametrize("space", [b"\xff\xfe\x00\x01", b"6CLR", b"    "])
def test_picture_whose_profile_names_no_color_space_is_taken_without_the_profile(space):
    content = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    content[16:20] = space
    with_profile, without = io.BytesIO(), io.BytesIO()
    Image.new("RGB", (40, 30), "teal").save(with_profile, "PNG", icc_profile=bytes(content))
    Image.new("RGB", (40, 30), "teal").save(without, "PNG")

    assert clean_upload(with_profile.getvalue()) == clean_upload(without.getvalue())
