"""Gives an empty development database its tables at once, from a dump of what the migrations make.

Only the embedded server is given the dump: its version is the one that wrote it. Migrations that are newer than the
dump are applied afterwards, as on every database. `tests.tools.schema_dump` writes the dump at each release.
"""

import lzma
from pathlib import Path

import psycopg

DUMP = Path(__file__).with_name("schema.sql.xz")
# One process at a time loads; any number that no other lock of the service has.
LOCK = 0x5C4E3A
HAS_TABLES = "SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = 'public')"


def load_schema(database_url: str) -> bool:
    """Loads the dump in one transaction; False if the database has tables."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        row = connection.execute(HAS_TABLES).fetchone()
        if row is None or row[0]:
            return False
        # Several statements without parameters are one transaction.
        connection.execute(lzma.decompress(DUMP.read_bytes()))
        return True
