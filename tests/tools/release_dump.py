"""Databases of earlier releases, kept as text: a later release must be able to upgrade them.

After a release, on its code: `.venv/bin/python -m tests.tools.release_dump`. It writes
tests/fulfillment/operations/data/<version>.sql.xz, with the demo data and a few orders.
"""

import lzma
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django
import psycopg
from django.db import connection
from psycopg import sql

from fulfillment.operations.backups.programs import find_program
from tests.support.database.address import address_of

SAMPLE_ORDERS = """
from stores.catalog.models import Store
from tests.support.orders.sample_orders import create_sample_orders
create_sample_orders(count=200, stores=list(Store.objects.all()))
"""
ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests/fulfillment/operations/data"
NAME = "release_dump"
# Of psql, and of newer servers than the oldest that may restore it.
LEFT_OUT = ("\\restrict ", "\\unrestrict ", "SET transaction_timeout ")
FORM = ("--inserts", "--rows-per-insert=200", "--no-owner", "--no-privileges")
# The content of the dump was hashed and encrypted with these.
SECRETS = {
    name: f"release-dump-{name.lower()}-0123456789-abcdefghijklmnop"
    for name in ("SECRET_KEY", "FULFILLMENT_PEPPERS", "FULFILLMENT_ENCRYPTION_KEYS")
}


def environment_of(database: str, media: Path) -> dict[str, str]:
    return SECRETS | {
        "PATH": os.environ["PATH"],
        "FULFILLMENT_MODE": "development",
        "DJANGO_SETTINGS_MODULE": "fulfillment.settings",
        "DATABASE_URL": address_of(database),
        "PUBLIC_URL": "http://127.0.0.1:8000",
        "MEDIA_ROOT": str(media),
    }


def manage(environment: dict[str, str], *arguments: str) -> str:
    result = subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


@contextmanager
def empty_database(name: str, *, template: str = "template1") -> Iterator[str]:
    drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
    with psycopg.connect(address_of("postgres"), autocommit=True) as server:
        server.execute(drop)
        server.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(*map(sql.Identifier, (name, template)))
        )
        try:
            yield name
        finally:
            server.execute(drop)


def restore(dump: Path, database: str) -> None:
    with psycopg.connect(address_of(database), autocommit=True) as opened:
        opened.execute(lzma.decompress(dump.read_bytes()))


@contextmanager
def used(name: str) -> Iterator[None]:
    """Django's connection leads to that database of the same server."""
    usual = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = name
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = usual


def schema_of(database: str) -> list[str]:
    """The statements, in an order that does not depend on the migration that added a table or column."""
    text = dump_of(database, "--schema-only")
    return sorted(line.strip().rstrip(",") for line in text.splitlines() if not re.match(r"--|\s*$", line))


def dump_of(database: str, *options: str) -> str:
    program = [str(find_program("pg_dump")), f"--dbname={address_of(database)}", *FORM, *options]
    output = subprocess.run(program, check=True, capture_output=True, text=True).stdout
    return "".join(line for line in output.splitlines(keepends=True) if not line.startswith(LEFT_OUT))


def write_dump(media: Path) -> Path:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    with empty_database(NAME):
        environment = environment_of(NAME, media)
        for command in (["prepare"], ["load_demo"], ["shell", "-c", SAMPLE_ORDERS]):
            manage(environment, *command)
        written = dump_of(NAME)
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{version}.sql.xz"
    path.write_bytes(lzma.compress(written.encode(), preset=9 | lzma.PRESET_EXTREME))
    return path


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    django.setup()
    with tempfile.TemporaryDirectory() as media:
        sys.stdout.write(f"{write_dump(Path(media))}\n")
