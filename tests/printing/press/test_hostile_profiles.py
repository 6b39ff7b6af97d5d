"""A picture of a caller may carry a profile that is made to take long."""

import struct
import time
from io import BytesIO

from PIL import Image, ImageCms

from printing.press.colours import separation_of
from printing.press.pictures import separate_picture
from printing.press.profiles import SHIPPED
from printing.press.uploads import clean_upload

WHITE = struct.pack(">3i", 63190, 65536, 54061)


def profile_of_steps(count: int) -> bytes:
    """An sRGB profile of which D2B0 lists one and the same matrix over and over."""
    matrix = b"matf" + bytes(4) + struct.pack(">HH12f", 3, 3, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0)
    steps = b"mpet" + bytes(4) + struct.pack(">HHI", 3, 3, count)
    steps += struct.pack(">II", len(steps) + 8 * count, len(matrix)) * count + matrix
    sound = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    (tags,) = struct.unpack_from(">I", sound, 128)
    table = bytearray()
    for place in range(132, 132 + 12 * tags, 12):
        name, start, size = struct.unpack_from(">4sII", sound, place)
        table += struct.pack(">4sII", name, start + 12, size)
    table += struct.pack(">4sII", b"D2B0", len(sound) + 12, len(steps))
    made = bytearray(sound[:128] + struct.pack(">I", tags + 1) + table + sound[132 + 12 * tags :] + steps)
    struct.pack_into(">I", made, 0, len(made))
    return bytes(made)


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
