"""Development mode: what `manage.py` puts into the environment before Django reads it.

`var/development.env` keeps the secrets of a checkout across runs, so that a command in another terminal
works on the database and address of the running service. The web server itself never reads that file.
"""

import argparse
import fcntl
import os
import secrets
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fulfillment.core.files.folders import give_to_owner, make_folder
from fulfillment.core.text import parse_number
from fulfillment.local import postgres
from fulfillment.local.postgres_layout import find_host, open_lock

SETTINGS = "fulfillment.settings"
VAR = Path(os.environ.get("FULFILLMENT_VAR") or Path(__file__).parents[2] / "var").resolve()
ENVIRONMENT_FILE = VAR / "development.env"
DATA_FOLDER = VAR / "postgres"
LOGS = VAR / "log"
SECRETS = ("SECRET_KEY", "FULFILLMENT_PEPPERS", "FULFILLMENT_ENCRYPTION_KEYS")
PERSISTENT = (*SECRETS, "PUBLIC_URL", "DATABASE_URL")
DEFAULT_PORT = "8000"
LAST_PORT = 65535
# Names the file that turned development mode on.
CHOSEN_BY = "FULFILLMENT_MODE_CHOSEN_BY"
EVERY_ADDRESS = {"", "0.0.0.0", "::"}  # noqa: S104 - compared, not bound
# `up` starts the server as one of its printed steps.
WITHOUT_DATABASE = frozenset(
    {
        "check",
        "collectstatic",
        "diffsettings",
        "findstatic",
        "help",
        "makemessages",
        "spectacular",
        "up",
        "version",
    }
)
# What `prepare` found: the place of the embedded server is never looked for where DATABASE_URL names another.
_embedded: list[Path] = []


def prepare(arguments: Sequence[str]) -> None:
    """Fill in the environment of a `manage.py` call; in production this does nothing."""
    if os.environ.setdefault("DJANGO_SETTINGS_MODULE", SETTINGS) != SETTINGS or not _is_requested():
        return
    command = arguments[1] if len(arguments) > 1 else "help"
    if not os.environ.get("FULFILLMENT_MODE", "").strip():
        os.environ[CHOSEN_BY] = str(ENVIRONMENT_FILE)
    if command == "up":
        _claim_checkout(_public_url(arguments))
    # The children of `up` get all values in their environment and may not read the file.
    has_all = command != "up" and all(os.environ.get(name) for name in PERSISTENT)
    values = {} if has_all else _persistent_values(arguments if command == "up" else None)
    os.environ["FULFILLMENT_MODE"] = "development"
    for name, value in values.items():
        os.environ[name] = os.environ.get(name) or value
    if not os.environ.get("DATABASE_URL"):
        _embedded.append(DATA_FOLDER)
        os.environ["DATABASE_URL"] = postgres.locate(DATA_FOLDER)
        if command not in WITHOUT_DATABASE and "--help" not in arguments:
            postgres.ensure_running(DATA_FOLDER)


def uses_embedded_server() -> bool:
    return bool(_embedded)


def reachable_host(host: str) -> str:
    """The address to call a server by that listens on `host`."""
    return "127.0.0.1" if host in EVERY_ADDRESS else host


def _is_requested() -> bool:
    """Whether development mode was requested: a leftover file of `make run` must not turn it on in production."""
    if mode := os.environ.get("FULFILLMENT_MODE", "").strip():
        return mode == "development"
    configured = any(os.environ.get(name) or os.environ.get(f"{name}_FILE") for name in PERSISTENT)
    return ENVIRONMENT_FILE.exists() and not configured


def _claim_checkout(address: str) -> None:
    """Refuses a second `up` of one checkout. The lock ends with this process, however it ends."""
    make_folder(VAR)
    lock = open_lock(VAR / "up.lock")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        first = os.read(lock, 1000).decode() or "another process"
        sys.exit(f"This checkout is already running, as {first}; end that one, or start another checkout.")
    os.ftruncate(lock, 0)
    os.write(lock, f"{address} (process {os.getpid()})".encode())


def _persistent_values(arguments_of_up: Sequence[str] | None) -> dict[str, str]:
    stored = _read_file(ENVIRONMENT_FILE) or _read_file(_file_beside_data())
    values = {name: stored.get(name) or secrets.token_urlsafe(48) for name in SECRETS}
    if arguments_of_up is None:
        values |= {name: stored[name] for name in ("PUBLIC_URL", "DATABASE_URL") if name in stored}
    else:
        values["PUBLIC_URL"] = _public_url(arguments_of_up)
        values |= {name: os.environ[name] for name in PERSISTENT if os.environ.get(name)}
    if values != stored and (arguments_of_up or not stored):
        _write(values)
    return values


def _public_url(arguments: Sequence[str]) -> str:
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    parser.add_argument("--host", default=os.environ.get("HOST") or "127.0.0.1")
    parser.add_argument("--port", default=os.environ.get("PORT") or DEFAULT_PORT)
    options, _ = parser.parse_known_args(list(arguments[2:]))
    host = reachable_host(options.host)
    # `up` reports an invalid port itself.
    port = options.port if is_port(options.port) else DEFAULT_PORT
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_port(value: str) -> bool:
    return bool(parse_number(value, most=LAST_PORT))


def _file_beside_data() -> Path:
    """The secrets' file beside data outside of the checkout, so that a new clone can read that data."""
    make_folder(VAR)
    if os.environ.get("DATABASE_URL"):
        return ENVIRONMENT_FILE
    return find_host(DATA_FOLDER).data.parent / ENVIRONMENT_FILE.name


def _read_file(file: Path) -> dict[str, str]:
    if not file.exists():
        return {}
    lines = file.read_text(encoding="utf-8").splitlines()
    pairs = (line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    return {name: value for name, value in pairs if name in PERSISTENT}


def _write(values: dict[str, str]) -> None:
    for file in {ENVIRONMENT_FILE, _file_beside_data()}:
        _write_file(file, values)


def _write_file(target: Path, values: dict[str, str]) -> None:
    lines = ["# Written by `manage.py up` for this checkout; never used in production.\n"]
    lines += [f"{name}={value}\n" for name, value in values.items()]
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix="development.")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.writelines(lines)
    give_to_owner(Path(name))
    Path(name).replace(target)
