"""Tries an uploaded output profile in a process of its own: LittleCMS reads it in C, and it comes from outside."""

from pathlib import Path
from typing import Any

from PIL import Image

from printing.bounded import TaskFailed, run_bounded
from printing.press.colours import Separation
from printing.press.profiles import ProfileInvalid, check_header, description_of

SECONDS, MEMORY_BYTES = 20.0, 512 << 20
MAX_INK = 300


def read_profile(content: bytes) -> str:
    """The description of a profile that can be printed with; raises ProfileInvalid with the fault."""
    check_header(content)
    unusable = ProfileInvalid("profile_unusable", "LittleCMS cannot convert colors with the profile.")
    task, files = "printing.press.profile_check:try_in_folder", {"profile": content}
    try:
        with run_bounded(task, files, seconds=SECONDS, memory=MEMORY_BYTES) as (reply, _):
            if "description" not in reply:
                raise unusable
            return str(reply["description"])
    except TaskFailed as error:
        raise unusable from error


def try_in_folder(folder: Path) -> dict[str, Any]:
    """Converts colours and a picture in every way that print files and proofs need."""
    content = (folder / "profile").read_bytes()
    try:
        inks = Separation(content, MAX_INK)
        inks.separated((255, 0, 0))
        inks.of_lab((50.0, 20.0, -20.0))
        inks.black_of(128)
        inks.on_screen((255, 128, 0, 64))
        inks.picture_on_screen(inks.picture(Image.linear_gradient("L").convert("RGB")))
        return {"description": description_of(content)}
    except Exception as error:  # noqa: BLE001 - a fault here would be one of each print file
        return {"fault": type(error).__name__}
