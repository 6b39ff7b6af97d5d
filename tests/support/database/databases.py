"""The database of the tests: loaded from the dump that `make run` loads, migrated by what is newer, kept as a template,
and copied for each process of each run. A slow test holds the dump to what all migrations make.

The template is named after everything that decides what it holds, so that an old one is never taken for a new one.
"""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import distributions
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from psycopg import sql

from fulfillment.local.schema import load_schema
from tests.support.database.address import address_of

PREFIX = "test_template_"
# One process at a time makes, copies and drops.
LOCK = 7_306_410_099
# Beside them what migrations are made with; they import nothing else of ours (test_databases.py).
SOURCES = (
    *("accounts/names.py", "stores/orders/business_days.py"),
    *("*/migrations/*.py", "*/models/*.py", "*/*/models.py", "*/*/models/*.py"),
    *("fulfillment/local/schema.py", "fulfillment/local/schema.sql.xz"),
    *("fulfillment/apps.py", "fulfillment/core/audit/guards.py", "fulfillment/core/audit/indexes.py"),
    *("fulfillment/core/db/first_migrations.py", "fulfillment/core/db/repeatable.py"),
)


@contextmanager
def own_database(*, keep: bool) -> Iterator[None]:
    """Makes the database of this process and lets Django use it; one that was kept and fits is used again."""
    usual, name = connection.settings_dict["NAME"], connection.creation._get_test_db_name()
    with _administration() as cursor:
        _make(cursor, name, template_of(fingerprint(settings.BASE_DIR, settings.INSTALLED_APPS)), keep=keep)
    _use(name)
    yield
    connection.close()
    _use(usual)
    if not keep:
        with _administration() as cursor:
            # A server that a test has started may still hold it.
            _run(cursor, "DROP DATABASE IF EXISTS {} WITH (FORCE)", name)


def fingerprint(root: Path, installed: Iterable[str]) -> str:
    """Changes with each migration, each model, each installed package and the list of installed apps."""
    packages = sorted({f"{distribution.name} {distribution.version}" for distribution in distributions()})
    digest = hashlib.sha256(repr([list(installed), packages]).encode())
    for path in sorted(path for pattern in SOURCES for path in root.glob(pattern)):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root)} {len(content)} ".encode() + content)
    return digest.hexdigest()


def template_of(fingerprint: str) -> str:
    return PREFIX + fingerprint[:16]


def rows_of() -> dict[str, list[str]]:
    """Every table of the database, and its rows as text."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        rows = {}
        for (table,) in cursor.fetchall():
            cursor.execute(sql.SQL("SELECT one::text FROM {} one ORDER BY 1").format(sql.Identifier(table)))
            rows[table] = [row for (row,) in cursor.fetchall()]
    return rows


@contextmanager
def _administration() -> Iterator:
    with connection._nodb_cursor() as cursor:
        cursor.execute("SET statement_timeout = 0; SET lock_timeout = 0")
        cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        yield cursor


def _make(cursor, name: str, template: str, *, keep: bool) -> None:
    if keep and _made_from(cursor, name) == template:
        return
    if _made_from(cursor, template) is None:
        _make_template(cursor, template)
    # Refused while another run of the tests uses it.
    _run(cursor, "DROP DATABASE IF EXISTS {}", name)
    _run(cursor, "CREATE DATABASE {} TEMPLATE {}", name, template)
    cursor.execute(
        sql.SQL("COMMENT ON DATABASE {} IS {}").format(sql.Identifier(name), sql.Literal(template))
    )


def _make_template(cursor, template: str) -> None:
    """It gets its name when it is finished, so that leftovers of a killed run are never copied."""
    cursor.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [PREFIX])
    for (old,) in cursor.fetchall():
        _run(cursor, "DROP DATABASE {}", old)
    unfinished, usual = f"{PREFIX}unfinished", connection.settings_dict["NAME"]
    _run(cursor, "CREATE DATABASE {}", unfinished)
    load_schema(address_of(unfinished))
    _use(unfinished)
    try:
        call_command("migrate", verbosity=0, interactive=False, run_syncdb=True)
    finally:
        connection.close()
        _use(usual)
    _run(cursor, "ALTER DATABASE {} RENAME TO {}", unfinished, template)
    _run(cursor, "ALTER DATABASE {} ALLOW_CONNECTIONS false", template)


def _made_from(cursor, name: str) -> str | None:
    """The template a database was copied from, empty when unknown; None when there is no such database."""
    cursor.execute(
        "SELECT coalesce(shobj_description(oid, 'pg_database'), '') FROM pg_database WHERE datname = %s",
        [name],
    )
    row = cursor.fetchone()
    return row[0] if row else None


def _run(cursor, statement: str, *names: str) -> None:
    cursor.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def _use(name: str) -> None:
    connection.close()
    settings.DATABASES["default"]["NAME"] = connection.settings_dict["NAME"] = name
