"""Settings read from environment variables; a wrong or missing value stops the start with one sentence."""

import os
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

MINIMUM_SECRET_LENGTH = 32


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def flag(name: str, *, default: bool = False) -> bool:
    value = text(name).lower()
    if value in {"", "1", "true", "yes", "on", "0", "false", "no", "off"}:
        return value in {"1", "true", "yes", "on"} if value else default
    raise ImproperlyConfigured(f"{name} is {value!r}; write 1 or 0.")


def integer(name: str, default: int, *, minimum: int = 0, maximum: int = 10**9) -> int:
    value = text(name) or str(default)
    if not value.isascii() or not value.isdigit() or not minimum <= int(value) <= maximum:
        raise ImproperlyConfigured(f"{name} is {value!r}; write a whole number from {minimum} to {maximum}.")
    return int(value)


def names(name: str, default: tuple[str, ...] = ()) -> list[str]:
    return [part.strip() for part in text(name).split(",") if part.strip()] or list(default)


def networks(name: str, default: tuple[str, ...] = ()) -> list[IPv4Network | IPv6Network]:
    """Addresses and networks, comma separated, such as 10.0.0.0/8."""
    try:
        return [ip_network(part) for part in names(name, default)]
    except ValueError as error:
        raise ImproperlyConfigured(
            f"{name} is {text(name)!r}: {error}. Write networks such as 10.0.0.0/8, separated by commas."
        ) from error


def is_set(name: str) -> bool:
    """Whether there is a secret of this name, in a file or not."""
    return bool(text(name) or text(f"{name}_FILE"))


def secret(name: str) -> str:
    """The value of NAME or the content of the file named by NAME_FILE, at least 32 characters long."""
    value = text(name)
    file_name = text(f"{name}_FILE")
    if file_name:
        try:
            value = Path(file_name).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ImproperlyConfigured(
                f"{name}_FILE names {file_name}, which cannot be read: {error}."
            ) from error
    if len(value) < MINIMUM_SECRET_LENGTH or len(set(value)) < 8:
        raise ImproperlyConfigured(
            f"{name} is missing or weak; set {name} or {name}_FILE to at least {MINIMUM_SECRET_LENGTH} random "
            "characters, for example the output of: "
            "python3 -c 'import secrets; print(secrets.token_urlsafe(48))'."
        )
    return value


def secrets(name: str) -> list[str]:
    """One or more secrets, comma separated, the newest first; older ones are still read, never written."""
    values = [part.strip() for part in secret(name).split(",") if part.strip()]
    if any(len(value) < MINIMUM_SECRET_LENGTH for value in values):
        raise ImproperlyConfigured(f"{name} holds a value shorter than {MINIMUM_SECRET_LENGTH} characters.")
    return values
