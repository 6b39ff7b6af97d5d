"""Temporary folders of processes that end in order, that are killed, and that are still running."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from printing.bounded import ScratchFolder, remove_abandoned_folders

PROJECT = Path(__file__).parents[2]
HOLD = """
import sys
from printing.bounded import ScratchFolder
(ScratchFolder("typesetting").path / "photo.jpg").write_bytes(b"photo")
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def process(folder):
    environment = {"PATH": os.defpath, "PYTHONPATH": str(PROJECT), "TMPDIR": str(folder)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", HOLD], env=environment, **pipes) as process:
        assert process.stdout.readline() == b"ready\n"
        yield process
        process.kill()


def test_folder_is_private_and_removed_at_the_end(folder):
    with ScratchFolder("typesetting") as path:
        assert path.stat().st_mode & 0o077 == 0
        assert path.parent == folder
    assert list(folder.iterdir()) == []


def test_folder_of_a_killed_process_is_removed_by_the_next(folder, process):
    process.kill()
    process.wait()
    assert len(list(folder.rglob("photo.jpg"))) == 1
    with ScratchFolder("typesetting") as path:
        assert list(folder.iterdir()) == [path]


def test_folder_of_a_running_process_stays(folder, process):
    with ScratchFolder("typesetting"):
        assert len(list(folder.rglob("photo.jpg"))) == 1


def test_other_folders_and_links_stay(folder):
    (folder / "typesetting-new").mkdir()
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere/.in-use").touch()
    (folder / "typesetting-link").symlink_to(folder / "elsewhere")
    assert remove_abandoned_folders("typesetting") == 0
    assert len(list(folder.iterdir())) == 3
