"""pg_dump and pg_restore of a version that fits the server."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from django.db import connection

from fulfillment.core.errors import Unprocessable
from fulfillment.local.postgres_layout import PostgresUnavailable, installed_programs

DEBIAN = Path("/usr/lib/postgresql")
# Options of ours, unknown to libpq.
NOT_LIBPQ = {"options", "prepare_threshold", "cursor_factory", "context", "autocommit"}
SERVICE = "fulfillment"


def run_program(name: str, *arguments: str) -> None:
    """Runs the program on the configured database; raises Unprocessable with the end of its output."""
    program = find_program(name)
    with _service_file() as environment:
        command = [str(program), f"--dbname=service={SERVICE}", *arguments]
        result = subprocess.run(  # noqa: S603 - our command, no shell
            command,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            umask=0o077,
        )
    if result.returncode:
        output = " / ".join(result.stderr.strip().splitlines()[-3:])
        raise Unprocessable(f"{name} failed: {output}", code="program_failed")


def find_program(name: str) -> Path:
    """The program in the server's version, else a newer one; older ones cannot read the server."""
    server_major = connection.pg_version // 10_000  # type: ignore[attr-defined]
    major_versions = {
        path: major for path in _candidates(name, server_major) if (major := _major_version(path))
    }
    fitting = [path for path, major in major_versions.items() if major == server_major]
    if fitting := [*fitting, *(path for path, major in major_versions.items() if major > server_major)]:
        return fitting[0]
    versions = ", ".join(f"{path} ({major})" for path, major in major_versions.items()) or "none"
    raise Unprocessable(
        f"The server is PostgreSQL {server_major}, and no {name} of that version or newer is here; found: {versions}. "
        f"Install the client programs of PostgreSQL {server_major} or put their folder first in PATH.",
        code="program_missing",
    )


def _candidates(name: str, major: int) -> list[Path]:
    in_path = shutil.which(name)
    paths = [Path(in_path)] if in_path else []
    paths.append(DEBIAN / str(major) / "bin" / name)
    with suppress(PostgresUnavailable):
        paths.append(installed_programs() / name)
    return [path for path in paths if path.exists()]


def _major_version(program: Path) -> int:
    try:
        output = subprocess.run(  # noqa: S603
            [str(program), "--version"], capture_output=True, text=True, check=True, timeout=20
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return 0
    number = re.search(r"\b(\d+)\.?\d*", output)
    return int(number[1]) if number else 0


@contextmanager
def _service_file() -> Iterator[Mapping[str, str]]:
    """Passes the password in a private file: other users can see arguments and environments."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".conf") as file:
        file.write(f"[{SERVICE}]\n")
        file.writelines(f"{name}={value}\n" for name, value in _list_parameters().items())
        file.flush()
        yield {**os.environ, "PGSERVICEFILE": file.name, "LC_ALL": "C"}


def _list_parameters() -> dict[str, Any]:
    parameters = connection.get_connection_params()
    return {
        name: value for name, value in parameters.items() if name not in NOT_LIBPQ and value not in {None, ""}
    }
