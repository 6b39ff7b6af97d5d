"""Commands of the documents do what their page says, pasted into a shell."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from django.db import connection
from standardwebhooks import Webhook

from applications.webhooks.selectors.signatures import generate_webhook_secret
from tests.support.printing.document_making import document

DOCS = Path(__file__).parents[3] / "docs"
BOOKLET = (139.7, 215.9)


def blocks(page: str, language: str = "sh") -> list[str]:
    """Also those of a step in a list."""
    matches = re.findall(rf"^( *)```{language}\n(.*?)^ *```$", (DOCS / page).read_text("utf-8"), re.S | re.M)
    return ["".join(line.removeprefix(indent) for line in code.splitlines(True)) for indent, code in matches]


def shell(script: str, folder: Path, **variables: str) -> str:
    environment = {**os.environ, **variables}
    result = subprocess.run(
        ["sh", "-euc", script], cwd=folder, env=environment, capture_output=True, check=True, text=True
    )
    return result.stdout


@pytest.mark.parametrize(("body", "verdict"), [('{"Type": "order.shipped"}', "genuine"), ("{}", "forged")])
def test_signature_of_a_webhook_is_checked_in_a_shell(tmp_path, body, verdict):
    secret, now = generate_webhook_secret(), datetime.now(UTC)
    signature = Webhook(secret).sign("event-1", now, '{"Type": "order.shipped"}')
    (tmp_path / "body.json").write_text(body)
    [check] = [block for block in blocks("webhooks.md") if "hexkey" in block]
    headers = {"ID": "event-1", "TIME": str(int(now.timestamp())), "SIGNATURE": f"v1,AAAA {signature}"}

    assert shell(check, tmp_path, SECRET=secret, **headers) == f"{verdict}\n"


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_own_booklet_is_ordered_with_curl(live_server, made_demo, tmp_path):
    made_demo.restore()
    (tmp_path / "booklet.pdf").write_bytes(document(size=BOOKLET, pages=8))
    calls = [block for block in blocks("guides/print-ready-pdfs.md") if "call" in block]
    script = "".join(calls).replace("http://127.0.0.1:8000", live_server.url)

    proof, order = (json.loads(line) for line in shell(script, tmp_path).splitlines() if line)

    assert [finding for finding in proof["Preflight"] if finding["Severity"] == "Error"] == []
    assert order["StatusName"] == "Received"
    assert order["Items"][0]["Quantity"] == 100


def test_archive_is_set_up_for_the_installed_version(tmp_path):
    [block] = [block for block in blocks("operating/restore.md") if "VERSION=" in block]
    commands = [line for line in block.splitlines() if line.startswith("sed")]
    (tmp_path / "etc/postgresql/16/main/conf.d").mkdir(parents=True)
    script = "\n".join(commands).replace("/etc/p", f"{tmp_path}/etc/p")

    shell(script, DOCS / "deploy/backup", VERSION="16")

    written = "".join(path.read_text() for path in tmp_path.rglob("*.conf"))
    assert "pg1-path=/var/lib/postgresql/16/main" in written
    assert "archive_mode = on" in written
    assert "/15/" not in written


@pytest.fixture
def administrator(django_db_blocker) -> Iterator[psycopg.Connection]:
    """Of a provider's server: no superuser."""
    with django_db_blocker.unblock():
        parameters = connection.get_connection_params()
    named = {name: parameters[name] for name in ("host", "port", "user", "password") if parameters.get(name)}
    with psycopg.connect(**named, dbname="postgres", autocommit=True) as server:
        server.execute("CREATE ROLE pasted_administrator CREATEROLE CREATEDB")
        server.execute("SET ROLE pasted_administrator")
        yield server
        server.execute("RESET ROLE")
        server.execute("DROP DATABASE IF EXISTS pasted_service")
        server.execute("DROP ROLE IF EXISTS pasted_service")
        server.execute("DROP ROLE pasted_administrator")


def test_administrator_of_a_provider_makes_role_and_database(administrator):
    [statements] = [
        block for block in blocks("operating/remote-database.md", "sql") if "CURRENT_USER" in block
    ]

    for statement in statements.replace("fulfillment", "pasted_service").split(";")[:-1]:
        administrator.execute(statement)

    owner_query = "SELECT datdba::regrole::text FROM pg_database WHERE datname = 'pasted_service'"
    assert administrator.execute(owner_query).fetchone() == ("pasted_service",)
