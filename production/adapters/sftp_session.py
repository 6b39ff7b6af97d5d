"""Connections to SFTP servers with pinned host keys, and the translation of their errors."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import asyncssh

from production.adapters.http import connect_socket
from production.interface import ProviderRefused, ProviderUnavailable, SendingProgress

CONNECT_SECONDS = 20
FULL = (asyncssh.SFTPNoSpaceOnFilesystem, asyncssh.SFTPQuotaExceeded)
MISSING = (asyncssh.SFTPNoSuchFile, asyncssh.SFTPNoSuchPath)


def read_fingerprints(text: str) -> frozenset[str]:
    """Reads one key or fingerprint a line: `ssh-ed25519 AAAA…`, with or without a host name in front, or `SHA256:…`.

    Raises ValueError with the invalid line.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        raise ValueError("Write at least one host key or fingerprint.")
    return frozenset(_read_fingerprint(line) for line in lines)


class _Client(asyncssh.SSHClient):
    def __init__(self, pinned: frozenset[str]) -> None:
        self._pinned = pinned
        self.shown = ""

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        self.shown = key.get_fingerprint("sha256")
        return self.shown in self._pinned


@asynccontextmanager
async def open_sftp(
    settings: Mapping[str, Any], secrets: Mapping[str, str]
) -> AsyncIterator[asyncssh.SFTPClient]:
    """Connects without the machine's SSH configuration, agent and known hosts."""
    host, port = settings["host"], settings["port"]
    keys, client = _client_keys(secrets), _Client(read_fingerprints(settings["host_key"]))
    open_socket: socket.socket = await asyncio.to_thread(connect_socket, host, port, seconds=CONNECT_SECONDS)
    try:
        connection = await asyncssh.connect(
            sock=open_socket,
            config=None,
            known_hosts=([], [], []),
            server_host_key_algs="default",
            client_factory=lambda: client,
            username=settings["username"],
            password=secrets.get("password") or None,
            client_keys=keys,
            agent_path=None,
            # A prime that the server chose is checked for minutes, and meanwhile no thread of the process runs.
            kex_algs="-*group-exchange*",
            # A packet of 256 kB may unpack to as many MB.
            compression_algs=["none"],
            login_timeout=CONNECT_SECONDS,
            keepalive_interval=15,
        )
    except asyncssh.HostKeyNotVerifiable as error:
        raise ProviderRefused(
            f"The server at {host} showed the host key {client.shown or '(none)'}, which is not a pinned one.",
            concerns_all=True,
        ) from error
    except asyncssh.PermissionDenied as error:
        raise ProviderRefused(
            f"The server at {host} does not accept the user {settings['username']} with this key or password.",
            concerns_all=True,
        ) from error
    except BaseException:
        open_socket.close()
        raise
    # Names are bytes to a server: one that is not UTF-8 must not end the listing of the others.
    async with connection, connection.start_sftp_client(path_errors="surrogateescape") as sftp:
        yield sftp


@contextmanager
def sftp_errors(progress: SendingProgress) -> Iterator[None]:
    """Translates all failures to ProviderRefused or ProviderUnavailable, with a message for users."""
    try:
        yield
    except FULL as error:
        raise ProviderUnavailable("The server's disk is full.", is_unsent=progress.is_unsent) from error
    except asyncssh.SFTPPermissionDenied as error:
        raise ProviderRefused(
            f"The server does not permit this: {error.reason}.", concerns_all=True
        ) from error
    except MISSING as error:
        raise ProviderRefused(
            f"A folder is missing at the server: {error.reason}.", concerns_all=True
        ) from error
    except asyncssh.SFTPError as error:
        raise ProviderUnavailable(
            f"The server could not store the files: {error.reason}.", is_unsent=progress.is_unsent
        ) from error
    except TimeoutError as error:
        raise ProviderUnavailable(
            "The server did not finish in time.", is_unsent=progress.is_unsent
        ) from error
    except (asyncssh.Error, OSError) as error:
        reason = getattr(error, "reason", "") or getattr(error, "strerror", "") or type(error).__name__
        raise ProviderUnavailable(
            f"The connection failed: {reason}.", is_unsent=progress.is_unsent
        ) from error


def _client_keys(secrets: Mapping[str, str]) -> list[asyncssh.SSHKey] | None:
    if not (text := secrets.get("private_key")):
        if not secrets.get("password"):
            raise ProviderRefused("The provider has neither a password nor a private key.", concerns_all=True)
        return None
    try:
        return [asyncssh.import_private_key(text, secrets.get("key_passphrase") or None)]
    except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as error:
        raise ProviderRefused(f"The private key cannot be read: {error}.", concerns_all=True) from error


def _read_fingerprint(line: str) -> str:
    if line.startswith("SHA256:") and len(line.rstrip("=")) == 50:
        return line.rstrip("=")
    for candidate in (line, line.partition(" ")[2]):
        try:
            return asyncssh.import_public_key(candidate).get_fingerprint("sha256")
        except (asyncssh.KeyImportError, ValueError):
            continue
    raise ValueError(
        f"“{line[:40]}” is not a host key: write a line such as ssh-ed25519 AAAA… or a fingerprint SHA256:…"
    )
