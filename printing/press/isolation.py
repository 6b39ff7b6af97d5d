"""Decodes large pictures in separate processes, one at a time, because a web process would keep their memory."""

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from zlib import crc32

from PIL import Image

from printing import bounded, waiting
from printing.bounded import TaskFailed, busy, caller, run_bounded
from printing.pictures import held_samples, is_jpeg, open_undecoded
from printing.press import pictures
from printing.press.artwork import PAGES, ArtworkRefused, PreparedArtwork, page_from
from printing.press.colors import separation_of
from printing.press.pictures import separate_picture
from printing.press.uploads import FORMATS, Upload, UploadRefused, clean_upload

LARGE_PIXELS = 8_000_000
# Renderers hold smaller ones beside each other: photos of phones, in 48 MB each.
RENDERED_PIXELS = 16_000_000
SECONDS = 60.0
ARTWORK_SECONDS, ARTWORK_BYTES = 20.0, 400 << 20

# Locks are those of files that are always there: of the picture that is read, and of all who wait for it.
_SHARED, _WAITING = Path(__file__), Path(bounded.__file__)
# The lock of one of these is the turn of a caller: of each, one large picture waits beside those of others.
_TURNS = sorted(set(Path(__file__).parents[1].rglob(f"*{Path(__file__).suffix}")) - {_SHARED, _WAITING})

# A request waits no longer for its turns, and a caller leaves a moment after one to others who wait.
TURN_SECONDS = 20.0
LOOK_SECONDS, LEFT_SECONDS = 0.01, 0.05


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Waits for a turn on this machine, also with several web processes; the lock of a file ends with its process.

    Not reentrant: a thread that holds it must not take it again. Raises RenderingBusy.
    """
    end = time.monotonic() + TURN_SECONDS - waiting.waited_of_request()
    turn = _TURNS[crc32(caller.get().encode()) % len(_TURNS)]
    with turn.open("rb") as turn_file:
        with _SHARED.open("rb") as shared:
            with waiting.counted(), _WAITING.open("rb") as waiting_file:
                _wait_for(turn_file, end)
                fcntl.flock(waiting_file, fcntl.LOCK_SH)
                _wait_for(shared, end)
            yield
        if _others_wait():
            time.sleep(LEFT_SECONDS)


def _others_wait() -> bool:
    with _WAITING.open("rb") as waiting_file, suppress(BlockingIOError):
        fcntl.flock(waiting_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    return True


def _wait_for(lock: BinaryIO, end: float) -> None:
    """Looks again and again, because a wait within `flock` has no limit."""
    while True:
        with suppress(BlockingIOError):
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if time.monotonic() > end:
            raise busy("Other large pictures are being read. Try again in a few seconds.")
        time.sleep(LOOK_SECONDS)


def separate(content: bytes, profile: Path, highest_ink: int) -> bytes:
    """Separates as `separate_picture` does; raises TaskFailed or TaskTimedOut."""
    if not is_large(content):
        return separate_picture(content, separation_of(profile.read_bytes(), highest_ink))
    task, files = "printing.press.pictures:separate_in_folder", {"picture": content}
    name = str(profile.resolve())
    with (
        one_at_a_time(),
        run_bounded(task, files, seconds=SECONDS, profile=name, highest_ink=highest_ink) as (_, folder),
    ):
        return (folder / "separated").read_bytes()


def clean(content: bytes) -> Upload:
    """Cleans as `clean_upload` does; raises TaskFailed or TaskTimedOut as well."""
    if not is_large(content):
        return clean_upload(content)
    task, files = "printing.press.uploads:clean_in_folder", {"picture": content}
    with one_at_a_time(), run_bounded(task, files, seconds=SECONDS) as (reply, folder):
        if "code" in reply:
            raise UploadRefused(reply["code"], reply["message"])
        form, width, height = reply["shape"]
        plates = (folder / "plates").read_bytes() if reply["plates_form"] else b""
        return Upload((folder / "content").read_bytes(), form, width, height, plates, reply["plates_form"])


def prepare(content: bytes, *, most_pages: int = PAGES) -> PreparedArtwork:
    """Prepares as `prepare_press_artwork` does; raises RendererKilled as well."""
    task, files = "printing.press.artwork:prepare_in_folder", {"artwork": content}
    try:
        with (
            one_at_a_time(),
            run_bounded(
                task, files, seconds=ARTWORK_SECONDS, memory=ARTWORK_BYTES, most_pages=most_pages
            ) as (reply, folder),
        ):
            if "code" in reply:
                raise ArtworkRefused(reply["code"], reply["message"])
            pages = tuple(page_from(page) for page in reply["pages"])
            return PreparedArtwork((folder / "prepared").read_bytes(), pages)
    except TaskFailed as error:
        raise ArtworkRefused(
            "artwork_too_complex", "The PDF takes too much time or memory to read. Export it more simply."
        ) from error


def shrink(content: bytes, size: tuple[int, int], resampling: str) -> Image.Image:
    """A large picture in gray, RGB, RGBA or CMYK. Raises TaskFailed where it is damaged."""
    task, files = "printing.press.uploads:shrink_in_folder", {"picture": content}
    with (
        one_at_a_time(),
        run_bounded(task, files, seconds=SECONDS, size=list(size), resampling=resampling) as (mode, folder),
    ):
        return Image.frombytes(mode, size, (folder / "shrunk").read_bytes())


def reshape(content: bytes, size: tuple[int, int], proportion: float, *, crop: bool) -> bytes:
    """Reshapes as `printing.press.pictures.reshape` does; the result has this `size`. Raises TaskFailed as well."""
    if not is_large(content) and size[0] * size[1] <= LARGE_PIXELS:
        return pictures.reshape(content, proportion, crop=crop)
    task, files = "printing.press.pictures:reshape_in_folder", {"picture": content}
    with (
        one_at_a_time(),
        run_bounded(task, files, seconds=SECONDS, proportion=proportion, crop=crop) as (_, folder),
    ):
        return (folder / "shaped").read_bytes()


def is_readable(content: bytes) -> bool:
    task, files = "printing.press.uploads:decode_in_folder", {"picture": content}
    with suppress(TaskFailed), one_at_a_time(), run_bounded(task, files, seconds=SECONDS) as (reply, _):
        return bool(reply)
    return False


def is_large(content: bytes) -> bool:
    try:
        with open_undecoded(content, FORMATS) as picture:
            return is_large_picture(picture)
    except Exception:  # noqa: BLE001 - decoding reports the fault
        return False


def is_large_to_render(content: bytes) -> bool:
    with open_undecoded(content, FORMATS) as picture:
        return picture.width * picture.height > RENDERED_PIXELS


def is_large_picture(picture: Image.Image) -> bool:
    """Opened and not decoded. What a JPEG in several scans keeps counts as well, however small it is shown."""
    return max(picture.width * picture.height, held_samples(picture)) > LARGE_PIXELS


def is_large_at_any_size(picture: Image.Image) -> bool:
    """Whether it takes as much to make it smaller: a JPEG in one scan is decoded small, others only whole."""
    return held_samples(picture) > LARGE_PIXELS if is_jpeg(picture) else is_large_picture(picture)
