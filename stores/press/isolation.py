"""Decodes large pictures in separate processes, one at a time, because a web process would keep their memory."""

import fcntl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path

from PIL import Image

from fulfillment.core.bounded import TaskFailed, run_bounded
from stores.press.colours import separation_of
from stores.press.pictures import separate_picture
from stores.press.uploads import FORMATS, Upload, UploadRefused, clean_upload

LARGE_PIXELS = 8_000_000
SECONDS = 60.0

_in_this_process = threading.Lock()


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """On this machine, also with several web processes. The lock of the file ends with its process."""
    with _in_this_process, Path(__file__).open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def separate(content: bytes, profile: Path, highest_ink: int) -> bytes:
    """As `separate_picture`; raises TaskFailed or TaskTimedOut."""
    if not is_large(content):
        return separate_picture(content, separation_of(profile.read_bytes(), highest_ink))
    task, files = "stores.press.pictures:separate_in_folder", {"picture": content}
    name = str(profile.resolve())
    with (
        _one_at_a_time(),
        run_bounded(task, files, seconds=SECONDS, profile=name, highest_ink=highest_ink) as (_, folder),
    ):
        return (folder / "separated").read_bytes()


def clean(content: bytes) -> Upload:
    """As `clean_upload`; raises TaskFailed or TaskTimedOut as well."""
    if not is_large(content):
        return clean_upload(content)
    task, files = "stores.press.uploads:clean_in_folder", {"picture": content}
    with _one_at_a_time(), run_bounded(task, files, seconds=SECONDS) as (answer, folder):
        if "code" in answer:
            raise UploadRefused(answer["code"], answer["message"])
        form, width, height = answer["shape"]
        plates = (folder / "plates").read_bytes()
        return Upload((folder / "content").read_bytes(), form, width, height, plates, answer["plates_form"])


def shrink_png(content: bytes, size: tuple[int, int], resampling: str) -> bytes:
    """Raises TaskFailed where it is damaged."""
    task, files = "stores.press.uploads:shrink_in_folder", {"picture": content}
    with (
        _one_at_a_time(),
        run_bounded(task, files, seconds=SECONDS, size=list(size), resampling=resampling) as (_, folder),
    ):
        return (folder / "shrunk").read_bytes()


def is_readable(content: bytes) -> bool:
    task, files = "stores.press.uploads:decode_in_folder", {"picture": content}
    with suppress(TaskFailed), _one_at_a_time(), run_bounded(task, files, seconds=SECONDS) as (answer, _):
        return bool(answer)
    return False


def is_large(content: bytes) -> bool:
    try:
        with Image.open(BytesIO(content), formats=FORMATS) as picture:
            return picture.width * picture.height > LARGE_PIXELS
    except Exception:  # noqa: BLE001 - decoding reports the fault
        return False
