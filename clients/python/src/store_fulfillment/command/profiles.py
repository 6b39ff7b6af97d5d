"""The stored sign-in: in the system's keyring where there is one, else in a file readable only by its owner."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import typer

from store_fulfillment import Client, ClientCredentials, Person, Retries, Tokens

# The service's own application for this command.
COMMAND_LINE = "fulfillment-cli"
NOT_SIGNED_IN = 3
KEYRING_NAME = "store-fulfillment"
MACHINE = (
    "FULFILLMENT_URL",
    "FULFILLMENT_CLIENT_ID",
    "FULFILLMENT_CLIENT_SECRET",
    "FULFILLMENT_SUBSCRIPTION_KEY",
)


@dataclass(frozen=True)
class Profile:
    url: str
    client_id: str
    client_secret: str | None
    subscription_key: str
    tokens: Tokens | None = None

    def credentials(self) -> ClientCredentials | Person:
        if self.tokens is None:
            return ClientCredentials(self.client_id, self.client_secret or "")
        return Person(
            self.client_id,
            self.tokens,
            self.client_secret,
            on_tokens=self._keep,
        )

    def _keep(self, tokens: Tokens) -> None:
        key = tokens.subscription_key or self.subscription_key
        save(replace(self, tokens=tokens, subscription_key=key))


def folder() -> Path:
    """`FULFILLMENT_CONFIG`, else the system's folder for configuration."""
    if path := os.environ.get("FULFILLMENT_CONFIG"):
        return Path(path)
    return Path(typer.get_app_dir("store-fulfillment"))


def save(profile: Profile) -> str:
    """Returns where it is kept. The file then says only that the rest is in the keyring."""
    content = asdict(profile)
    path = folder() / "profile.json"
    if ring := system_keyring():
        with keyring_errors():
            ring.set_password(KEYRING_NAME, str(path), json.dumps(content))
        content = {"keyring": KEYRING_NAME}
    write_privately(path, content)
    return "the keyring of this system" if ring else str(path)


def system_keyring() -> Any:
    """The package `keyring`, or None without it or where the system has none."""
    try:
        import keyring  # noqa: PLC0415 - optional
    except ImportError:
        return None
    # Backends that keep nothing, or that a person must choose, have no positive priority.
    return keyring if keyring.get_keyring().priority > 0 else None


@contextmanager
def keyring_errors() -> Iterator[None]:
    """A locked keyring, or one that refuses, ends the command with a sentence."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith("keyring"):
            raise
        typer.echo(f"The keyring of this system refused: {error}", err=True)
        raise typer.Exit(NOT_SIGNED_IN) from error


def load() -> Profile | None:
    """The profile; the environment takes precedence, so that machines need no file."""
    environment = {name: os.environ.get(name, "") for name in MACHINE}
    if all(environment.values()):
        url, client_id, client_secret, key = environment.values()
        return Profile(url.rstrip("/"), client_id, client_secret, key)
    return stored()


def stored() -> Profile | None:
    """The sign-in that `login` stored."""
    path = folder() / "profile.json"
    try:
        data = json.loads(path.read_text("utf-8"))
        if data.get("keyring"):
            ring = system_keyring()
            with keyring_errors():
                data = json.loads((ring and ring.get_password(KEYRING_NAME, str(path))) or "null")
    except (OSError, ValueError, AttributeError):
        return None
    try:
        tokens = data.pop("tokens")
        return Profile(**data, tokens=Tokens(**tokens) if tokens else None)
    except (AttributeError, KeyError, TypeError):
        return None


def forget() -> bool:
    path = folder() / "profile.json"
    was_there = path.exists()
    with keyring_errors():
        if was_there and (ring := system_keyring()) and ring.get_password(KEYRING_NAME, str(path)):
            ring.delete_password(KEYRING_NAME, str(path))
    path.unlink(missing_ok=True)
    return was_there


def signed_in() -> tuple[Client, Profile]:
    profile = load()
    if profile is None:
        missing = [name for name in MACHINE if not os.environ.get(name)]
        text = "You are not signed in: run `fulfillment login ADDRESS`"
        # Some are set, so a machine was meant.
        text += f", or set {', '.join(missing)} as well." if len(missing) < len(MACHINE) else "."
        typer.echo(text, err=True)
        raise typer.Exit(NOT_SIGNED_IN)
    client = Client(
        profile.url,
        credentials=profile.credentials(),
        subscription_key=profile.subscription_key,
        user_agent="fulfillment-command",
        # A person reads the error sooner than an outage ends.
        retries=Retries(outage=0),
    )
    return client, profile


def write_privately(path: Path, content: dict[str, Any], *, to_disk: bool = True) -> None:
    """Whole or not at all; with `to_disk` also when the machine stops in the middle, which takes its time."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Never a file that is there already: another user of a shared folder could have made it, and read the secrets.
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(content, file)
            file.flush()
            if to_disk:
                os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
