"""The databases of the benchmark: kept in var/ from one run to the next, as are the secrets their contents need."""

import os
import re
import secrets
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "var" / "bench-postgres"
SECRETS = ROOT / "var" / "bench.json"
MEDIA = ROOT / "var" / "bench-media"
NAMES = ("SECRET_KEY", "FULFILLMENT_PEPPERS", "FULFILLMENT_ENCRYPTION_KEYS")
# The smallest of them; another scale is so many times as much.
STORES, PRODUCTS, ORDERS, TOKENS = 10, 1_000, 20_000, 10_000


@dataclass(frozen=True)
class Database:
    """What a server is started with, and what its callers need."""

    environment: dict[str, str]
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def headers(self) -> dict[str, str]:
        return dict(self.facts["headers"])


def prepare_database(scale: int) -> Database:
    """Production's settings, but for what needs https. A process of its own fills the database, once."""
    from fulfillment.local.postgres import ensure_running

    return _fill_database(ensure_running(FOLDER, database=f"bench_{scale}"), scale)


def _fill_database(url: str, scale: int) -> Database:
    if not SECRETS.exists():
        SECRETS.parent.mkdir(exist_ok=True)
        SECRETS.touch(mode=0o600)
        SECRETS.write_bytes(orjson.dumps({name: secrets.token_urlsafe(48) for name in NAMES}))
    environment = {
        "FULFILLMENT_MODE": "development",
        "DJANGO_SETTINGS_MODULE": "fulfillment.settings",
        "DATABASE_URL": url,
        "MEDIA_ROOT": str(MEDIA / str(scale)),
        **orjson.loads(SECRETS.read_bytes()),
    }
    command = [sys.executable, "-m", "tests.benchmarks.data", str(scale)]
    done = subprocess.run(command, env=os.environ | environment, check=True, stdout=subprocess.PIPE)
    return Database(environment, orjson.loads(done.stdout.splitlines()[-1]))


def server_process() -> int:
    """The PostgreSQL server; its processes are its children."""
    found = re.match(r"\d+", (_data_folder() / "postmaster.pid").read_text())
    return int(found[0])


def _data_folder() -> Path:
    from fulfillment.local.postgres_layout import find_host

    return Path(find_host(FOLDER.resolve()).data)
