"""The lines of the documents, as they stand there, put a proof on the disk."""

from pathlib import Path

import pytest

from tests.clients.conftest import quick_start
from tests.support.servers.client_library import run

DEMO = "http://127.0.0.1:8000"


def check_proof(folder: Path) -> None:
    assert (folder / "proof.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.slow
def test_python_writes_a_proof(python, given, tmp_path):
    (tmp_path / "start.py").write_text(quick_start("python").replace(DEMO, given["url"]))
    python(tmp_path / "start.py", cwd=tmp_path)

    check_proof(tmp_path)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_typescript_writes_a_proof(npm_project, given):
    program = npm_project / "out" / "start.js"
    program.write_text(program.read_text().replace(DEMO, given["url"]))
    run("node", "out/start.js", cwd=npm_project)

    check_proof(npm_project)
