"""What a rendering reads is whole, also after the disk of temporary files was full."""

import errno
import os
from pathlib import Path

import pytest

from printing.typesetting.fonts import FontSet
from printing.typesetting.workdir import WorkDir
from tests.support.made_templates import words_template


@pytest.fixture
def folder():
    made = WorkDir()
    yield made
    made.close()


def full(*ignored, **also):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_fonts_are_all_there_after_the_disk_was_full(folder, monkeypatch):
    fonts, symlink_to, made = FontSet.shipped(), Path.symlink_to, []

    def third(path, target):
        made.append(path)
        full() if len(made) == 3 else symlink_to(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "symlink_to", third)
        with pytest.raises(OSError, match="No space left"):
            folder.font_folder(fonts)

    assert len(names(Path(folder.font_folder(fonts)))) == len(fonts.paths)


def test_template_can_be_held_after_the_disk_was_full(folder, monkeypatch):
    template = words_template()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", full)
        with pytest.raises(OSError, match="No space left"):
            folder.hold_template(template)

    paths = folder.hold_template(template)
    folder.release_template(template)

    assert all((folder.root / "artwork" / path).is_file() for path in paths.values())


def test_root_that_cannot_be_emptied_says_why(folder, monkeypatch):
    folder.empty_root(1)

    def none_left(*ignored):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "scandir", none_left)
    monkeypatch.setattr(os, "listdir", none_left)
    with pytest.raises(OSError, match="Too many open files"):
        folder.empty_root(1)
