"""The steps of docs/guides, as they stand there."""

import shlex

import pytest

from tests.clients.conftest import lines_of
from tests.support.client_command import Command
from tests.support.document_making import document

DEMO = "http://127.0.0.1:8000"
GUIDE = "docs/guides/print-ready-pdfs.md"


@pytest.fixture
def command(installed_python, tmp_path, given) -> Command:
    return Command(installed_python, tmp_path / "home", given)


@pytest.mark.slow
def test_guide_of_print_ready_pdfs_checks_and_orders_one(command, python, given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    good, bare = tmp_path / "leaflet.pdf", tmp_path / "bare.pdf"
    good.write_bytes(document(pages=2, content=b"0 0 0 0.2 k 0 0 2000 2000 re f"))
    bare.write_bytes(document(pages=2, bleed=0))
    [line], [program] = lines_of(GUIDE, "sh"), lines_of(GUIDE, "python")
    (tmp_path / "order.py").write_text(program.replace(DEMO, given["url"]))

    assert "Nothing found" in command(*shlex.split(line)[1:])
    assert python(tmp_path / "order.py", good) == "Received\n"
    refused = python(tmp_path / "order.py", bare)
    assert refused.startswith("Error 1 ")
    assert "too little bleed" in refused
    assert "Received" not in refused
