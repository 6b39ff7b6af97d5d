"""The lines of the documents, as they stand there, put a proof on the disk."""

import re
from pathlib import Path

import pytest

from tests.support.client_library import ROOT, run

DOCUMENTS = [
    "README.md",
    "docs/start/integrator.md",
    # The reference shows this one as its guide.
    "docs/clients.md",
    "clients/python/README.md",
    "clients/typescript/README.md",
]
DEMO = "http://127.0.0.1:8000"
MAX_LINES = 10


def lines_of(document: str, language: str) -> list[str]:
    return re.findall(
        rf"^```{language}\n(.*?)```", (ROOT / document).read_text("utf-8"), flags=re.DOTALL | re.M
    )


def the_lines(language: str) -> str:
    """One and the same everywhere, and few."""
    [lines] = {block for document in DOCUMENTS for block in lines_of(document, language)}
    assert len([line for line in lines.splitlines() if line.strip()]) <= MAX_LINES
    assert all(lines_of(document, language) for document in DOCUMENTS[:3])
    return lines


def check_proof(folder: Path) -> None:
    assert (folder / "proof.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.slow
def test_python_writes_a_proof(python, given, tmp_path):
    (tmp_path / "start.py").write_text(the_lines("python").replace(DEMO, given["url"]))
    python(tmp_path / "start.py", cwd=tmp_path)

    check_proof(tmp_path)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_typescript_writes_a_proof(npm_project, given):
    (npm_project / "start.ts").write_text(the_lines("ts").replace(DEMO, given["url"]))
    run("npx", "tsc", cwd=npm_project, timeout=400)
    run("node", "out/start.js", cwd=npm_project)

    check_proof(npm_project)
