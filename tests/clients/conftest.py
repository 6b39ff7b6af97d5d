"""The libraries as `make clients` builds them, installed from their files, beside a service with the demo's data."""

import json
import os
import re
import shutil
import ssl
import sys
import uuid
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from PIL import Image

from stores.catalog.models import Store
from tests.factories.budgets import enable_budgets
from tests.support.once import made_once
from tests.support.printing import document_making
from tests.support.servers.client_library import ROOT, build, run
from tests.support.servers.proxies import certificate

PROGRAMS = Path(__file__).parent / "programs"
# The reference shows the first one as its guide, and each package has one of its own.
DOCUMENTS = {
    "python": ["docs/clients.md", "clients/python/README.md"],
    "ts": ["docs/clients.md", "clients/typescript/README.md"],
}
MAX_LINES = 10


def lines_of(document: str, language: str) -> list[str]:
    return re.findall(
        rf"^```{language}\n(.*?)```", (ROOT / document).read_text("utf-8"), flags=re.DOTALL | re.M
    )


def quick_start(language: str) -> str:
    """The same in both documents, and few lines."""
    [lines], [again] = (lines_of(document, language) for document in DOCUMENTS[language])
    assert lines == again
    assert len([line for line in lines.splitlines() if line.strip()]) <= MAX_LINES
    return lines


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
    """A project of someone who installed the package file; its programs are compiled with the strictest settings."""
    if not has_node():
        assert os.environ.get("NODE_TESTS") != "required", "Node.js 20 with npm is missing."
        pytest.skip("Node.js 20 or newer with npm is not installed.")
    return made_once(tmp_path_factory, "typescript-client", make_npm_project) / "project"


def make_npm_project(folder: Path) -> None:
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
    for program in PROGRAMS.glob("*.ts"):
        shutil.copy(program, project)
    (project / "start.ts").write_text(quick_start("ts"))
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
    run("npx", "tsc", cwd=project, timeout=400)


@pytest.fixture
def untrusted_url(tmp_path) -> Iterator[str]:
    """Of a server with a certificate that nobody signed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate(tmp_path))
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"https://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def demo(made_demo, transactional_db, tmp_path) -> dict[str, Any]:
    """The demo's credentials, and what programs use beside them."""
    record = made_demo.restore()
    Image.new("RGB", (900, 600), "teal").save(tmp_path / "picture.png")
    Image.new("RGB", (215, 215), "teal").save(tmp_path / "icon.png")
    (tmp_path / "artwork.pdf").write_bytes(
        document_making.document(pages=3, content=b"0 0 0 0.2 k 0 0 2000 2000 re f")
    )
    enable_budgets(Store.objects.get(external_id="summit-print"))
    return record | {
        "picture": str(tmp_path / "picture.png"),
        "artwork": str(tmp_path / "artwork.pdf"),
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
