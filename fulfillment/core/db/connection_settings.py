"""Django's settings of a database connection, from its address."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote

import psycopg

from fulfillment.core import environment
from fulfillment.core.web_addresses import split_url

# What stands before PostgreSQL: nothing or one connection for each client; PgBouncer in transaction mode; the same of
# release 1.22 or newer with `max_prepared_statements`.
POOLERS = ("none", "transaction", "prepared")
# A pooler in transaction mode sets these itself, with `connect_query`.
SESSION_OPTIONS = (
    "-c statement_timeout=15000 -c lock_timeout=5000 -c idle_in_transaction_session_timeout=30000 -c jit=off"
)
SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")


def connection_settings(variable: str, url: str, *, pooler: str = "none") -> dict[str, Any]:
    """`variable` is the environment variable of the address, for messages."""
    parts = split_url(url)
    name = "" if parts is None else parts.path.strip("/")
    # A password with / or @ as they are would end up in the name.
    if parts is None or parts.scheme not in {"postgres", "postgresql"} or not name or set(name) & set("/@"):
        return environment.refuse(
            # Without its value: where the password ends cannot be seen, so none can be hidden.
            f"{variable} is no address of a database; write one such as "
            "postgresql://user:password@host:5432/name, with / @ : ? # and % of a password as %2F %40 %3A %3F %23 %25.",
            {},
        )
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    _check_options(variable, options)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", None) or parts.hostname or "",
        "PORT": options.pop("port", None) or str(parts.port or ""),
        # One connection for each thread of a worker: a pool costs every request and bounds nothing more.
        "CONN_MAX_AGE": 1800,
        # Outside of a transaction such a cursor stays behind on a connection of the pooler.
        "DISABLE_SERVER_SIDE_CURSORS": pooler != "none",
        "OPTIONS": _driver_options(options, pooler),
    }


def _driver_options(options: Mapping[str, str], pooler: str) -> dict[str, Any]:
    return {
        # Where the database's machine vanishes without a word, the connection ends after 20 to 30 seconds.
        "keepalives_idle": "15",
        "keepalives_interval": "5",
        "keepalives_count": "3",
        "tcp_user_timeout": "20000",
        **options,
        "connect_timeout": 3,
        # Only statements of fulfillment.core.db.prepared are prepared, none by count; None forbids both.
        "prepare_threshold": None if pooler == "transaction" else 1_000_000,
        "application_name": "fulfillment",
        **({"options": SESSION_OPTIONS} if pooler == "none" else {}),
    }


def _check_options(variable: str, options: dict[str, str]) -> None:
    """Refuses at the start what libpq would refuse at the first connection."""
    mode = options.get("sslmode", "prefer")
    if mode not in SSL_MODES:
        environment.refuse(
            f"{variable} has sslmode={mode!r}; write {', '.join(SSL_MODES[:-1])} or {SSL_MODES[-1]}.", None
        )
    option_names = {option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults()}
    if unknown := sorted(options.keys() - option_names):
        environment.refuse(
            f"{variable} has the option {unknown[0]!r}; write options of libpq, such as sslmode or sslrootcert.",
            None,
        )
