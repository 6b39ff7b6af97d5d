"""What a rendering reads is whole, also after the disk of temporary files was full."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from printing.typesetting import workdir
from printing.typesetting.fonts import FontSet
from printing.typesetting.workdir import WorkDir
from tests.support.patience import PATIENCE
from tests.support.printing.made_templates import text_box, unread_artwork, words_template


@pytest.fixture
def folder():
    made = WorkDir()
    yield made
    made.close()


def full(*ignored, number=errno.ENOSPC, **also):
    raise OSError(number, os.strerror(number))


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


def of_size(count):
    return unread_artwork("x" * count, text_box())


def test_unused_artwork_takes_no_more_bytes_than_allowed(folder, monkeypatch):
    """Those used last stay, and what a rendering holds."""
    monkeypatch.setattr(workdir, "MAX_CACHED_BYTES", 1000)
    held = of_size(350)
    folder.hold_template(held)
    for size in (300, 250, 301, 302):
        folder.hold_template(template := of_size(size))
        folder.release_template(template)

    files = [path for path in (folder.root / "artwork").rglob("*") if path.is_file()]
    assert sorted(path.stat().st_size for path in files) == [301, 302, 350]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_full_disk_gets_the_room_of_unused_artwork_and_keeps_no_part(folder, monkeypatch, number):
    folder.hold_template(unused := of_size(10))
    folder.release_template(unused)
    written, write_bytes = of_size(20), Path.write_bytes

    def while_room(path, content):
        full(number=number) if len(names(folder.root / "artwork")) > 1 else write_bytes(path, content)

    monkeypatch.setattr(Path, "write_bytes", while_room)
    folder.hold_template(written)
    assert names(folder.root / "artwork") == {written.artwork_digest}

    with pytest.raises(OSError, match=os.strerror(number)):
        folder.hold_template(of_size(30))
    assert names(folder.root / "artwork") == {written.artwork_digest}


def test_written_template_is_held_while_another_is_written(folder, monkeypatch):
    folder.hold_template(known := of_size(10))
    write_bytes = Path.write_bytes

    def hold_meanwhile(path, content):
        with ThreadPoolExecutor() as pool:
            assert pool.submit(folder.hold_template, known).result(timeout=PATIENCE)
        write_bytes(path, content)

    monkeypatch.setattr(Path, "write_bytes", hold_meanwhile)
    assert folder.hold_template(of_size(20))


def test_root_that_cannot_be_emptied_says_why(folder, monkeypatch):
    folder.empty_root(1)

    def none_left(*ignored):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "scandir", none_left)
    monkeypatch.setattr(os, "listdir", none_left)
    with pytest.raises(OSError, match="Too many open files"):
        folder.empty_root(1)
