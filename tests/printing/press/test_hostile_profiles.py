"""The profile of a caller's picture, or of a press, may be made to take long."""

import struct
import time
from io import BytesIO

from PIL import Image, ImageCms

from printing.press.colors import Separation, separation_of
from printing.press.pictures import separate_picture
from printing.press.profiles import SHIPPED
from printing.press.uploads import clean_upload

WHITE = struct.pack(">3i", 63190, 65536, 54061)


def profile_of_steps(count: int) -> bytes:
    """An sRGB profile of which D2B0 lists one and the same matrix over and over."""
    return with_steps(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes(), b"D2B0", 3, count)


def with_steps(sound: bytes, name: bytes, channels: int, count: int) -> bytes:
    """The profile with a list of `count` matrices, the last of which yields `channels`."""
    matrix = b"matf" + bytes(4) + struct.pack(">HH12f", 3, 3, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0)
    last = b"matf" + bytes(4) + struct.pack(f">HH{4 * channels}f", 3, channels, *[0.3] * (4 * channels))
    steps = b"mpet" + bytes(4) + struct.pack(">HHI", 3, channels, count + 1)
    place = len(steps) + 8 * (count + 1)
    steps += struct.pack(">II", place, len(matrix)) * count + struct.pack(
        ">II", place + len(matrix), len(last)
    )
    steps += matrix + last
    (tags,) = struct.unpack_from(">I", sound, 128)
    table = bytearray()
    for at in range(132, 132 + 12 * tags, 12):
        table += struct.pack(">4sII", *_moved(*struct.unpack_from(">4sII", sound, at)))
    table += struct.pack(">4sII", name, len(sound) + 12, len(steps))
    made = bytearray(sound[:128] + struct.pack(">I", tags + 1) + table + sound[132 + 12 * tags :] + steps)
    struct.pack_into(">I", made, 0, len(made))
    return bytes(made)


def _moved(name: bytes, start: int, size: int) -> tuple[bytes, int, int]:
    return name, start + 12, size


def picture_of(profile: bytes) -> bytes:
    out = BytesIO()
    Image.new("RGB", (8, 8), (200, 10, 30)).save(out, "JPEG", icc_profile=profile)
    return out.getvalue()


def test_profiles_of_many_steps_take_no_longer_than_others():
    content = picture_of(profile_of_steps(8000))
    begun = time.process_time()

    upload = clean_upload(content)
    separate_picture(content, separation_of(SHIPPED.read_bytes(), 300))

    assert (upload.width, upload.height) == (8, 8)
    assert time.process_time() - begun < 1


def test_output_profiles_of_many_steps_take_no_longer_than_others():
    """Each process that prints with one would pay, long after the check of its upload."""
    sound = bytearray(SHIPPED.read_bytes())
    sound[8] = 4
    picture = Image.new("RGB", (8, 8), (200, 10, 30))
    expected = Separation(bytes(sound), 300).picture(picture)
    begun = time.process_time()

    separated = Separation(with_steps(bytes(sound), b"B2D1", 4, 8000), 300).picture(picture)

    assert separated.tobytes() == expected.tobytes()
    assert time.process_time() - begun < 1
