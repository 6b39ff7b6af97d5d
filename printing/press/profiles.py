"""Output profiles: checks ICC files and names the output condition in print files."""

from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path

from PIL import ImageCms

from printing.errors import CodedError

SHIPPED = Path(__file__).parent / "profiles" / "ISOcoated_v2_300_bas.icc"
# A name in the registry of the ICC, www.color.org: others are identified by their profile alone.
SHIPPED_CONDITION = "FOGRA39"
PROFILE_BYTES = 10_000_000
HEADER_BYTES = 128
# LittleCMS refuses profiles with more. The number of tags follows the header, then 12 bytes for each.
MAX_TAGS, TAG_BYTES = 100, 12
RELATIVE_COLORIMETRIC = ImageCms.Intent.RELATIVE_COLORIMETRIC


class ProfileInvalid(CodedError, ValueError):
    """A file that is no output profile to print with."""


@dataclass(frozen=True, slots=True)
class OutputCondition:
    """The output intent; `condition` is a registered name, or "Custom"."""

    condition: str
    description: str
    profile: bytes


def check_header(content: bytes) -> None:
    """Raises ProfileInvalid with the fault, before anything else of the file is read."""
    if len(content) > PROFILE_BYTES:
        raise ProfileInvalid("profile_too_large", f"The file is larger than {PROFILE_BYTES // 1_000_000} MB.")
    if len(content) < HEADER_BYTES or content[36:40] != b"acsp":
        raise ProfileInvalid("not_a_profile", "The file is not an ICC profile.")
    if int.from_bytes(content[:4]) != len(content):
        raise ProfileInvalid(
            "profile_damaged",
            f"The profile declares {int.from_bytes(content[:4]):,} bytes, but the file has {len(content):,}.",
        )
    if content[12:16] != b"prtr":
        raise ProfileInvalid(
            "not_an_output_profile",
            f"The profile has class {_decode_tag(content[12:16])}; an output profile has class prtr.",
        )
    if content[16:20] != b"CMYK":
        raise ProfileInvalid(
            "not_cmyk", f"The profile is for {_decode_tag(content[16:20])}; only CMYK profiles are allowed."
        )
    if content[8] not in {2, 4}:
        raise ProfileInvalid("profile_version", "Profiles of ICC versions 2 and 4 are allowed.")


def open_profile(content: bytes) -> ImageCms.ImageCmsProfile:
    """A profile from outside, by its tables or primaries. Raises OSError or PyCMSError for a damaged one.

    Its other forms, D2B0 to D2B3 and B2D0 to B2D3, are lists of any length: 300 kB of one took 20 seconds for a
    picture of 64 pixels.
    """
    plain, first = bytearray(content), HEADER_BYTES + 4
    for offset in range(first, min(len(content), first + MAX_TAGS * TAG_BYTES), TAG_BYTES):
        if plain[offset : offset + 3] in (b"D2B", b"B2D"):
            plain[offset : offset + 3] = plain[offset : offset + 3].lower()
    return ImageCms.ImageCmsProfile(BytesIO(plain))


def condition_of(content: bytes) -> OutputCondition:
    shipped = _shipped_condition()
    return (
        shipped if content == shipped.profile else OutputCondition("Custom", description_of(content), content)
    )


@cache
def _shipped_condition() -> OutputCondition:
    content = SHIPPED.read_bytes()
    return OutputCondition(SHIPPED_CONDITION, description_of(content), content)


def description_of(content: bytes) -> str:
    """Describes the profile in one line that is valid in databases and PDF files: a profile may contain any bytes."""
    text = ImageCms.ImageCmsProfile(BytesIO(content)).profile.profile_description or ""
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(printable.split())[:200] or "Without a description"


def _decode_tag(tag: bytes) -> str:
    return tag.decode("ascii", "replace").strip() or "nothing"
