"""Output profiles that the console adds."""

import struct
import threading

import pytest
from django.db import connection

from fulfillment.core.errors import Invalid
from printing.press.profiles import SHIPPED, description_of
from stores.presets.models import OutputProfile
from stores.presets.services import add_profile
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
