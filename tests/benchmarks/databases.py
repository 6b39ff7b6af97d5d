"""The databases of the benchmarks, on one server: kept in var/bench-postgres from one run to the next."""

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "performance.md"
FOLDER = ROOT / "var" / "bench-postgres"
# Kept databases need the same ones again; nothing but invented data is behind them.
SECRETS = {
    name: f"benchmark-only-0123456789-abcdefghijklmnopqrstuvwxyz-{name}"
    for name in ("SECRET_KEY", "FULFILLMENT_PEPPERS", "FULFILLMENT_ENCRYPTION_KEYS")
}
_media = tempfile.TemporaryDirectory(prefix="bench-media-")


@dataclass(frozen=True)
class Size:
    """What a database holds at least; `first` of the orders are the first store's."""

    stores: int = 10
    products: int = 1_000
    orders: int = 20_000
    first: int = 2_000
    tokens: int = 10_000

    def __mul__(self, scale: int) -> "Size":
        """So many times the data; the store that is read stays as it is."""
        return Size(
            self.stores * scale, self.products * scale, self.orders * scale, self.first, self.tokens * scale
        )


@dataclass(frozen=True)
class Database:
    """What a server is started with, and what its callers need."""

    environment: dict[str, str]
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def headers(self) -> dict[str, str]:
        return dict(self.facts["headers"])


def environment(database: str, *, folder: Path = FOLDER, anew: bool = False) -> dict[str, str]:
    """Production's settings, but for what needs https. `anew` drops what an earlier run left."""
    import psycopg

    from fulfillment.local.postgres import ensure_running
    from fulfillment.local.schema import load_schema

    if anew:
        with psycopg.connect(ensure_running(folder), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")
    url = ensure_running(folder, database=database)
    load_schema(url)
    return SECRETS | {
        "FULFILLMENT_MODE": "development",
        "DJANGO_SETTINGS_MODULE": "fulfillment.settings",
        "DATABASE_URL": url,
        "MEDIA_ROOT": _media.name,
    }


def use_database(database: str, *, folder: Path = FOLDER, anew: bool = False, **more: str) -> None:
    """Makes it the one of this process and of those it starts."""
    os.environ.update(environment(database, folder=folder, anew=anew) | more)
    set_up()


def set_up() -> None:
    import django
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    django.setup()
    executor = MigrationExecutor(connection)
    # To find none takes the command three seconds.
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", verbosity=0)


def prepare_database(name: str, size: Size, *, anew: bool = False) -> Database:
    """A process of its own fills the database with what it lacks."""
    variables = environment(name, anew=anew)
    command = [sys.executable, "-m", "tests.benchmarks.data", orjson.dumps(asdict(size)).decode()]
    result = subprocess.run(command, env=os.environ | variables, check=True, stdout=subprocess.PIPE)
    return Database(variables, orjson.loads(result.stdout.splitlines()[-1]))


def server_process() -> int:
    """The PostgreSQL server; its processes are its children."""
    from fulfillment.local.postgres_layout import find_host

    pid_file = Path(find_host(FOLDER.resolve()).data) / "postmaster.pid"
    return int(re.match(r"\d+", pid_file.read_text())[0])
