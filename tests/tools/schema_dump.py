"""The database that all migrations make of an empty one, as text: `make run` loads it instead of running them.

At each release, on its code: `.venv/bin/python -m tests.tools.schema_dump`. It writes
fulfillment/local/schema.sql.xz.
"""

import lzma
import os
import sys
import tempfile
from pathlib import Path

import django

from fulfillment.local.schema import DUMP
from tests.tools.release_dump import dump_of, empty_database, environment_of, manage

NAME = "schema_dump"


def write_dump(media: Path) -> Path:
    with empty_database(NAME):
        manage(environment_of(NAME, media), "migrate")
        DUMP.write_bytes(lzma.compress(dump_of(NAME).encode(), preset=9 | lzma.PRESET_EXTREME))
    return DUMP


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    django.setup()
    with tempfile.TemporaryDirectory() as folder:
        sys.stdout.write(f"{write_dump(Path(folder))}\n")
