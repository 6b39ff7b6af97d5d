"""The files that rendering processes read, in a private folder."""

import atexit
import errno
import os
import shutil
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from printing.bounded import ScratchFolder
from printing.typesetting.fonts import FontSet, font_digest
from printing.typesetting.svg_fonts import name_own_fonts
from printing.typesetting.template import Artwork, Template

# A rendering holds its template beyond these. A customer's PDF on a page is a template of its own.
MAX_CACHED_TEMPLATES, MAX_CACHED_BYTES = 64, 200_000_000


@dataclass(slots=True)
class _Held:
    size: int
    holders: int = 1


class WorkDir:
    """The private folder of this process from which its workers read artwork, fonts and a job's pictures."""

    def __init__(self) -> None:
        self._folder = ScratchFolder("typesetting")
        self.root = self._folder.path
        self._holders: OrderedDict[str, _Held] = OrderedDict()
        self._lock = threading.Lock()
        # Held while artwork is written: who finds its template written does not wait for it.
        self._writing = threading.Lock()

    def close(self) -> None:
        self._folder.close()

    def hold_template(self, template: Template) -> dict[str, str]:
        """Write the template's artwork and return its paths below a job's root; call release_template afterwards."""
        digest = template.artwork_digest
        pictures = template.pictures
        if not self._hold_template(digest):
            with self._writing:
                if not self._hold_template(digest):
                    self._add_template(digest, pictures)
        return {picture.digest: f"{digest}/{picture.file_name}" for picture in pictures}

    def release_template(self, template: Template) -> None:
        with self._lock:
            self._holders[template.artwork_digest].holders -= 1

    def _hold_template(self, digest: str) -> bool:
        with self._lock:
            if (entry := self._holders.get(digest)) is None:
                return False
            entry.holders += 1
            self._holders.move_to_end(digest)
            return True

    def _add_template(self, digest: str, pictures: Sequence[Artwork]) -> None:
        size = sum(len(picture.data) for picture in pictures)
        self._delete_unused(MAX_CACHED_TEMPLATES - 1, MAX_CACHED_BYTES - size)
        try:
            self._write_pictures(digest, pictures)
        except OSError as error:
            if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
                raise
            self._delete_unused(0, 0)
            self._write_pictures(digest, pictures)
        with self._lock:
            self._holders[digest] = _Held(size)

    def _write_pictures(self, digest: str, pictures: Sequence[Artwork]) -> None:
        with _made_whole(self.root / "artwork" / digest) as part:
            for picture in pictures:
                is_svg = picture.media_type == "image/svg+xml"
                data = name_own_fonts(picture.data) if is_svg else picture.data
                (part / picture.file_name).write_bytes(data)

    def _delete_unused(self, max_templates: int, max_bytes: int) -> None:
        """The longest unused first, until so many are left in all, or none that can be deleted."""
        with self._lock:
            used_bytes = sum(holder.size for holder in self._holders.values())
            for digest in [digest for digest, holder in self._holders.items() if not holder.holders]:
                if len(self._holders) <= max_templates and used_bytes <= max_bytes:
                    break
                used_bytes -= self._holders.pop(digest).size
                shutil.rmtree(self.root / "artwork" / digest, ignore_errors=True)

    def font_folder(self, fonts: FontSet) -> str:
        """A folder with exactly these font files, because Typst reads all fonts of a folder."""
        folder = self.root / "fonts" / font_digest(fonts.paths)
        with self._lock:
            if not folder.exists():
                with _made_whole(folder) as part:
                    (copies := self.root / "copies").mkdir(exist_ok=True)
                    fonts.write_fonts(part, copies)
        return str(folder)

    @contextmanager
    def job(
        self, slot: int, template: Template, pictures: Mapping[str, tuple[bytes, str]]
    ) -> Iterator[tuple[Path, dict[str, str]]]:
        """The root folder of a worker's next job, with its template's artwork and its pictures only, and the paths
        of these in it."""
        root = self.empty_root(slot)
        digest = template.artwork_digest
        (root / digest).symlink_to(self.root / "artwork" / digest)
        paths = {}
        for number, (key, (content, extension)) in enumerate(pictures.items()):
            # File names are reused: the compiler keeps every path in memory.
            paths[key] = f"{number}.{extension}"
            (root / paths[key]).write_bytes(content)
        try:
            yield root, paths
        finally:
            self.clear_job(root)

    def empty_root(self, slot: int) -> Path:
        """The same root for all jobs of a worker: its compiler is made for one, and re-reads what changed."""
        root = self.root / "jobs" / str(slot)
        root.mkdir(parents=True, exist_ok=True)
        self.clear_job(root)
        return root

    def clear_job(self, root: Path) -> None:
        """A job has files and a link, and no folders."""
        with suppress(FileNotFoundError):
            for file in root.iterdir():
                file.unlink()


def _empty_folder(folder: Path) -> Path:
    """Raises what hinders it, such as a disk without room."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    return folder


@contextmanager
def _made_whole(folder: Path) -> Iterator[Path]:
    """Gives the folder its name when everything is in it: what failed in the middle takes no room."""
    part = _empty_folder(folder.with_name(f"{folder.name}.part"))
    try:
        yield part
        if folder.exists():
            shutil.rmtree(folder)
        part.rename(folder)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


_current: dict[int, WorkDir] = {}
_current_lock = threading.Lock()


@atexit.register
def _close_own_workdir() -> None:
    if (workdir := _current.pop(os.getpid(), None)) is not None:
        workdir.close()


def current_workdir() -> WorkDir:
    """The working folder of this process; a forked child gets its own."""
    with _current_lock:
        if os.getpid() not in _current:
            _current[os.getpid()] = WorkDir()
        return _current[os.getpid()]
