"""The libraries as `make clients` builds them, installed from their files, beside a service with the demo's data."""

import json
import os
import shutil
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from fulfillment.operations.demo import load_demo, reset_demo
from tests.support.client_library import build, run
from tests.support.snapshots import Snapshot

PROGRAMS = Path(__file__).parent / "programs"


def has_node() -> bool:
    if shutil.which("npm") is None or shutil.which("node") is None:
        return False
    return int(run("node", "--version").lstrip("v").partition(".")[0]) >= 20


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
