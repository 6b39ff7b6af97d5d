import atexit
import os
import shutil
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from printing.scratch import ScratchFolder
from printing.typesetting.fonts import FontSet, font_digest
from printing.typesetting.template import Template

MAX_CACHED_TEMPLATES = 64


class WorkDir:
    """The private folder of this process from which its workers read artwork, fonts and a job's pictures."""

    def __init__(self) -> None:
        self._folder = ScratchFolder("typesetting")
        self.root = self._folder.path
        self._holders: OrderedDict[str, int] = OrderedDict()
        self._lock = threading.Lock()

    def close(self) -> None:
        self._folder.close()

    def hold_template(self, template: Template) -> dict[str, str]:
        """Write the template's artwork and return its paths below a job's root; call release_template afterwards."""
        digest = template.artwork_digest
        folder = self.root / "artwork" / digest
        pictures = [*template.artwork.values(), *template.gallery.values()]
        with self._lock:
            if digest not in self._holders:
                with _made_whole(folder) as part:
                    for picture in pictures:
                        (part / picture.file_name).write_bytes(picture.data)
                self._holders[digest] = 0
            self._holders[digest] += 1
            self._holders.move_to_end(digest)
            self._delete_unused()
        return {one.digest: f"{digest}/{one.file_name}" for one in pictures}

    def release_template(self, template: Template) -> None:
        with self._lock:
            self._holders[template.artwork_digest] -= 1

    def _delete_unused(self) -> None:
        unused = [digest for digest, holders in self._holders.items() if not holders]
        for digest in unused[: max(len(self._holders) - MAX_CACHED_TEMPLATES, 0)]:
            del self._holders[digest]
            shutil.rmtree(self.root / "artwork" / digest, ignore_errors=True)

    def font_folder(self, fonts: FontSet) -> str:
        """A folder with exactly these font files, because Typst reads all fonts of a folder."""
        folder = self.root / "fonts" / font_digest(fonts.paths)
        with self._lock:
            if not folder.exists():
                with _made_whole(folder) as part:
                    for number, path in enumerate(fonts.paths):
                        (part / f"{number}{Path(path).suffix}").symlink_to(Path(path).resolve())
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
            for left in root.iterdir():
                left.unlink()


def _empty(folder: Path) -> Path:
    """Raises what hinders it, such as a disk without room."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    return folder


@contextmanager
def _made_whole(folder: Path) -> Iterator[Path]:
    """Gives the folder its name when everything is in it: what failed in the middle is made again the next time."""
    part = _empty(folder.with_name(f"{folder.name}.part"))
    yield part
    if folder.exists():
        shutil.rmtree(folder)
    part.rename(folder)


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
