"""The Python library as `make clients` builds it, installed from its file."""

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.once import made_once
from tests.support.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[3]
SHOWN = 4000


def run(*command: Any, **options: Any) -> str:
    """What the program printed; its complaints fail the test."""
    result = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=options.pop("timeout", PATIENCE),
        **options,
    )
    assert result.returncode == 0, f"{result.stdout[-SHOWN:]}\n{result.stderr[-SHOWN:]}"
    return result.stdout


def build(folder: Path, language: str) -> Path:
    command = [sys.executable, "-m", "clients.build", "--to", folder, "--only", language]
    return Path(run(*command, cwd=ROOT, timeout=400).strip().splitlines()[-1])


@pytest.fixture(scope="session")
def python_wheel(tmp_path_factory) -> Path:
    folder = made_once(tmp_path_factory, "python-client", lambda folder: build(folder, "python"))
    (wheel,) = folder.rglob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        assert {"store_fulfillment/py.typed", "store_fulfillment/models.py"} <= set(packed.namelist())
    return wheel


@pytest.fixture(scope="session")
def installed_python(tmp_path_factory, python_wheel) -> Path:
    """The folder in which the wheel is installed; what it needs is in the environment of the tests."""
    return made_once(tmp_path_factory, "installed", lambda folder: install_python(python_wheel, folder))


def install_python(source: Path | str, folder: Path) -> None:
    install = ["install", "--quiet", "--no-deps", "--no-compile", "--disable-pip-version-check", "--target"]
    run(sys.executable, "-m", "pip", *install, folder, source)
