"""Stored sign-ins, in a file readable only by its owner."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import typer

from store_fulfillment import Client, ClientCredentials, Person, Tokens

NOT_SIGNED_IN = 3


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
            on_tokens=lambda tokens: save(replace(self, tokens=tokens)),
        )


def folder() -> Path:
    """`FULFILLMENT_CONFIG`, else the system's folder for configuration."""
    if named := os.environ.get("FULFILLMENT_CONFIG"):
        return Path(named)
    return Path(typer.get_app_dir("store-fulfillment"))


def save(profile: Profile) -> None:
    write_privately(folder() / "profile.json", asdict(profile))


def load() -> Profile | None:
    """The profile; the environment takes precedence, so that machines need no file."""
    names = ("URL", "CLIENT_ID", "CLIENT_SECRET", "SUBSCRIPTION_KEY")
    url, client_id, client_secret, key = (os.environ.get(f"FULFILLMENT_{name}", "") for name in names)
    if url and client_id and client_secret and key:
        return Profile(url.rstrip("/"), client_id, client_secret, key)
    try:
        known = json.loads((folder() / "profile.json").read_text("utf-8"))
    except (OSError, ValueError):
        return None
    tokens = known.pop("tokens")
    return Profile(**known, tokens=Tokens(**tokens) if tokens else None)


def forget() -> bool:
    path = folder() / "profile.json"
    was_there = path.exists()
    path.unlink(missing_ok=True)
    return was_there


def signed_in() -> tuple[Client, Profile]:
    profile = load()
    if profile is None:
        typer.echo("You are not signed in: run `fulfillment login`.", err=True)
        raise typer.Exit(NOT_SIGNED_IN)
    client = Client(
        profile.url,
        credentials=profile.credentials(),
        subscription_key=profile.subscription_key,
        user_agent="fulfillment-command",
    )
    return client, profile


def write_privately(path: Path, content: dict[str, Any], *, to_disk: bool = True) -> None:
    """Whole or not at all; with `to_disk` also when the machine stops in the middle, which takes its time."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(content, file)
        file.flush()
        if to_disk:
            os.fsync(file.fileno())
    part.replace(path)
