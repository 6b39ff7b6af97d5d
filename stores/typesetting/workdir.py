import atexit
import os
import shutil
import threading
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp

from stores.typesetting.fonts import FontSet, font_digest
from stores.typesetting.template import Template

TEMPLATES_KEPT = 64


class Workshop:
    """This process's private folder that its workers read from: artwork, fonts, a job's pictures."""

    def __init__(self) -> None:
        self.root = Path(mkdtemp(prefix="typesetting-")).resolve()
        self._kept: OrderedDict[str, int] = OrderedDict()
        self._lock = threading.Lock()

    def close(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)

    def hold_template(self, template: Template) -> dict[str, str]:
        """Lay out the template's artwork, give each path in a job's root; release_template must follow."""
        digest = template.artwork_digest
        folder = self.root / "artwork" / digest
        pictures = [*template.artwork.values(), *template.gallery.values()]
        with self._lock:
            if digest not in self._kept:
                folder.mkdir(parents=True)
                for picture in pictures:
                    (folder / picture.file_name).write_bytes(picture.data)
                self._kept[digest] = 0
            self._kept[digest] += 1
            self._kept.move_to_end(digest)
            self._drop_unused()
        return {one.digest: f"{digest}/{one.file_name}" for one in pictures}

    def release_template(self, template: Template) -> None:
        with self._lock:
            self._kept[template.artwork_digest] -= 1

    def _drop_unused(self) -> None:
        unused = [digest for digest, holders in self._kept.items() if not holders]
        for digest in unused[: max(len(self._kept) - TEMPLATES_KEPT, 0)]:
            del self._kept[digest]
            shutil.rmtree(self.root / "artwork" / digest, ignore_errors=True)

    def font_folder(self, fonts: FontSet) -> str:
        """A folder that holds exactly these font files: Typst takes folders only, and would take neighbours."""
        folder = self.root / "fonts" / font_digest(fonts.paths)
        with self._lock:
            if not folder.exists():
                folder.mkdir(parents=True)
                for number, path in enumerate(fonts.paths):
                    (folder / f"{number}{Path(path).suffix}").symlink_to(Path(path).resolve())
        return str(folder)

    def lay_out_job(
        self, slot: int, template: Template, pictures: Mapping[str, tuple[bytes, str]]
    ) -> tuple[Path, dict[str, str]]:
        """Make the root folder of a worker's next job: its template's artwork and its own pictures, nothing else."""
        root = self._empty_root(slot)
        digest = template.artwork_digest
        (root / digest).symlink_to(self.root / "artwork" / digest)
        paths = {}
        for number, (key, (content, extension)) in enumerate(pictures.items()):
            # Few names, used again and again: the compiler never forgets a path it has seen.
            paths[key] = f"{number}.{extension}"
            (root / paths[key]).write_bytes(content)
        return root, paths

    def lay_out_pdf(self, slot: int, content: bytes) -> Path:
        """The root folder of a worker's next job, with nothing but shown.pdf."""
        root = self._empty_root(slot)
        (root / "shown.pdf").write_bytes(content)
        return root

    def _empty_root(self, slot: int) -> Path:
        root = self.root / "jobs" / str(slot)
        # The same root for all jobs of a worker: its compiler is made for one, and re-reads what changed.
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        return root

    def clear_job(self, root: Path) -> None:
        shutil.rmtree(root, ignore_errors=True)


_current: dict[int, Workshop] = {}
_current_lock = threading.Lock()


@atexit.register
def _close_own_workshop() -> None:
    if (workshop := _current.pop(os.getpid(), None)) is not None:
        workshop.close()


def current_workshop() -> Workshop:
    """The workshop of this process; a forked child gets its own."""
    with _current_lock:
        if os.getpid() not in _current:
            _current[os.getpid()] = Workshop()
        return _current[os.getpid()]
