"""The libraries as `make clients` builds them, installed from their files, beside a service with the demo's data."""

import json
import os
import shutil
import subprocess
import sys
import uuid
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from fulfillment.operations.demo import load_demo, reset_demo
from tests.support.snapshots import Snapshot

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).parent / "programs"
SHOWN = 4000


def run(*command: Any, **options: Any) -> str:
    """What the program printed; its complaints fail the test."""
    done = subprocess.run(
        [str(one) for one in command],
        capture_output=True,
        text=True,
        timeout=options.pop("timeout", 120),
        **options,
    )
    assert done.returncode == 0, f"{done.stdout[-SHOWN:]}\n{done.stderr[-SHOWN:]}"
    return done.stdout


def build(folder: Path, language: str) -> Path:
    command = [sys.executable, "-m", "clients.build", "--to", folder, "--only", language]
    return Path(run(*command, cwd=ROOT, timeout=400).strip().splitlines()[-1])


def has_node() -> bool:
    if shutil.which("npm") is None or shutil.which("node") is None:
        return False
    return int(run("node", "--version").lstrip("v").partition(".")[0]) >= 20


@pytest.fixture(scope="session")
def installed_python(tmp_path_factory) -> Path:
    """The folder in which the wheel is installed; what it needs is in the environment of the tests."""
    folder = tmp_path_factory.mktemp("python-client")
    wheel = build(folder, "python")
    with zipfile.ZipFile(wheel) as packed:
        assert {"store_fulfillment/py.typed", "store_fulfillment/models.py"} <= set(packed.namelist())
    install = ["install", "--quiet", "--no-deps", "--no-compile", "--disable-pip-version-check", "--target"]
    run(sys.executable, "-m", "pip", *install, folder / "installed", wheel)
    return folder / "installed"


@pytest.fixture(scope="session")
def python(installed_python) -> Callable[..., str]:
    """Runs a program with the installed library."""
    environment = {**os.environ, "PYTHONPATH": str(installed_python)}

    def start(program: Path | str, *arguments: Any, **options: Any) -> str:
        return run(sys.executable, program, *arguments, env=environment, **options)

    return start


@pytest.fixture(scope="session")
def npm_project(tmp_path_factory) -> Path:
    """A project of someone who installed the package file, with the strictest settings."""
    if not has_node():
        assert os.environ.get("NODE_TESTS") != "required", "Node.js 20 with npm is missing."
        pytest.skip("Node.js 20 or newer with npm is not installed.")
    folder = tmp_path_factory.mktemp("typescript-client")
    package = build(folder, "typescript")
    project = folder / "project"
    project.mkdir()
    (project / "package.json").write_text('{"type": "module", "private": true}')
    (project / "tsconfig.json").write_text(
        json.dumps(
            {
                "compilerOptions": {
                    "target": "es2022",
                    "module": "nodenext",
                    "strict": True,
                    "noUncheckedIndexedAccess": True,
                    "exactOptionalPropertyTypes": False,
                    "outDir": "out",
                }
            }
        )
    )
    shutil.copy(folder / "typescript" / ".npmrc", project)
    wanted = ["@types/node@20", "typescript@5.9"]
    run(
        "npm",
        "install",
        "--silent",
        "--no-audit",
        "--no-fund",
        "--prefer-offline",
        package,
        *wanted,
        cwd=project,
    )
    return project


@pytest.fixture(scope="session")
def made_demo(snapshot_of) -> Snapshot[dict[str, Any]]:
    def make() -> dict[str, Any]:
        load_demo()
        return reset_demo()

    return snapshot_of(make)


@pytest.fixture
def demo(made_demo, transactional_db, tmp_path) -> dict[str, Any]:
    """The demo's credentials, and what programs use beside them."""
    record = made_demo.restore()
    Image.new("RGB", (900, 600), "teal").save(tmp_path / "picture.png")
    Image.new("RGB", (215, 215), "teal").save(tmp_path / "icon.png")
    return record | {
        "picture": str(tmp_path / "picture.png"),
        "icon": str(tmp_path / "icon.png"),
        "username": f"made-{uuid.uuid4().hex[:8]}",
        "store_ids": ["summit-print", "harbor-press"],
        "postal_codes": ["84101", "84102"],
    }


@pytest.fixture
def given(demo, live_server, settings) -> dict[str, Any]:
    """The same, and the address of a running service."""
    settings.PUBLIC_URL = live_server.url
    settings.API_URL = f"{live_server.url}/api/v1"
    return demo | {"url": live_server.url}
