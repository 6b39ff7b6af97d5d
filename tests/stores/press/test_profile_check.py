"""Output profiles come from outside: they are tried in a process of their own."""

import io
import struct
import threading

import pytest
from django.db import connection
from PIL import Image, ImageCms

from fulfillment.core.bounded import TaskFailed
from fulfillment.core.errors import Invalid
from stores.presets.models import OutputProfile
from stores.presets.services.profiles import add_profile
from stores.press import profile_check
from stores.press.profiles import SHIPPED, ProfileInvalid, description_of
from stores.press.uploads import clean_upload
from tests.factories.presets import other_profile


def with_description(text: bytes) -> bytes:
    """The shipped profile with another description, in UTF-16."""
    content = bytearray(SHIPPED.read_bytes())
    tag = b"mluc" + bytes(4) + struct.pack(">II", 1, 12) + b"enUS" + struct.pack(">II", len(text), 28) + text
    content += bytes(-len(content) % 4)
    count = struct.unpack(">I", content[128:132])[0]
    place = next(132 + 12 * at for at in range(count) if content[132 + 12 * at :][:4] == b"desc")
    content[place + 4 : place + 12] = struct.pack(">II", len(content), len(tag))
    content += tag + bytes(-len(tag) % 4)
    content[:4] = struct.pack(">I", len(content))
    return bytes(content)


@pytest.mark.django_db
def test_description_of_any_characters_is_stored_as_one_line():
    content = with_description("Coated\n\u202epaper\x07 ".encode("utf-16-be"))

    profile = add_profile(file_name="odd.icc", content=content)

    assert profile.description == "Coated paper"
    assert OutputProfile.objects.get().description == description_of(content)


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

    monkeypatch.setattr(profile_check, "run_bounded", Bounded)

    with pytest.raises(ProfileInvalid) as refused:
        profile_check.read_profile(SHIPPED.read_bytes())

    assert refused.value.code == "profile_unusable"


def test_damaged_tables_are_refused_before_a_print_file_needs_them():
    """The header and the list of tags are right, the tables of colours lie outside of the file."""
    content = bytearray(SHIPPED.read_bytes())
    count = struct.unpack(">I", content[128:132])[0]
    for at in range(count):
        place = 132 + 12 * at
        if bytes(content[place : place + 3]) in {b"B2A", b"A2B"}:
            content[place + 4 : place + 8] = struct.pack(">I", 0xFFFFFF00)

    with pytest.raises(ProfileInvalid) as refused:
        profile_check.read_profile(bytes(content))

    assert refused.value.code == "profile_unusable"


@pytest.mark.django_db(transaction=True)
def test_of_two_equal_uploads_at_once_one_is_added():
    refused: list[str] = []
    together = threading.Barrier(2)

    def add() -> None:
        together.wait()
        try:
            add_profile(file_name="one.icc", content=other_profile())
        except Invalid as error:
            refused.append(error.faults[0].code)
        finally:
            connection.close()

    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert refused == ["profile_known"]
    assert OutputProfile.objects.count() == 1


@pytest.mark.parametrize("space", [b"\xff\xfe\x00\x01", b"6CLR", b"    "])
def test_picture_whose_profile_names_no_colour_space_is_taken_without_the_profile(space):
    content = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    content[16:20] = space
    with_profile, without = io.BytesIO(), io.BytesIO()
    Image.new("RGB", (40, 30), "teal").save(with_profile, "PNG", icc_profile=bytes(content))
    Image.new("RGB", (40, 30), "teal").save(without, "PNG")

    assert clean_upload(with_profile.getvalue()) == clean_upload(without.getvalue())
