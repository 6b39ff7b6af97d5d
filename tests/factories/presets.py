from factory.declarations import Sequence
from factory.django import DjangoModelFactory

from printing.press.profiles import SHIPPED
from stores.presets.models import OutputProfile, PrintPreset
from stores.presets.services import add_profile


class PrintPresetFactory(DjangoModelFactory[PrintPreset]):
    class Meta:
        model = PrintPreset

    code = Sequence(lambda number: f"coated-{number}")
    name = "Coated"


def other_profile(number: int = 1) -> bytes:
    """The shipped profile with another moment of creation: the same colors, other bytes."""
    content = SHIPPED.read_bytes()
    return content[:35] + bytes([content[35] ^ number]) + content[36:]


def make_profile(number: int = 1) -> OutputProfile:
    return add_profile(file_name="other.icc", content=other_profile(number))
