"""Settings read from environment variables; wrong and missing values stop the start with a sentence for each."""

import os
import re
from collections.abc import Collection, Mapping
from email.utils import parseaddr
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import TypeVar
from urllib.parse import SplitResult

from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.validators import EmailValidator

from fulfillment.core.web_addresses import web_address

# For every secret; docs/operating/settings.md and the messages name the same number.
MINIMUM_SECRET_LENGTH = 32
LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
DOMAIN_NAME = re.compile(rf"(?=.{{1,253}}\Z){LABEL}(?:\.{LABEL})*\Z")
# Up to the last @: a password may hold / and @ by mistake.
PASSWORD = re.compile(r"(://[^/@:]*):.*@")
MAX_NUMBER_LENGTH = 18

Value = TypeVar("Value")
_mistakes: list[str] | None = None


def collect_mistakes() -> None:
    """Keeps mistakes from here on, until `end_collection` raises all of them."""
    global _mistakes
    _mistakes = []


def end_collection() -> None:
    global _mistakes
    mistakes, _mistakes = _mistakes, None
    if mistakes:
        raise ImproperlyConfigured("\n".join(dict.fromkeys(mistakes)))


def refuse(message: str, otherwise: Value) -> Value:
    """Raises ImproperlyConfigured; while mistakes are collected, keeps the message and goes on with `otherwise`."""
    if _mistakes is None:
        raise ImproperlyConfigured(message)
    _mistakes.append(message)
    return otherwise


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def folder(name: str, default: Path, *, root: Path) -> Path:
    """A path; a relative one is below `root`, because web server, worker and commands start in different folders."""
    return root / text(name, str(default))


def flag(name: str, *, default: bool = False) -> bool:
    value = text(name).lower()
    if value in {"", "1", "true", "yes", "on", "0", "false", "no", "off"}:
        return value in {"1", "true", "yes", "on"} if value else default
    return refuse(f"{name} is {value!r}; write 1 or 0.", default)


def integer(name: str, default: int, *, minimum: int = 0, maximum: int = 10**9) -> int:
    value = text(name) or str(default)
    is_number = value.isascii() and value.isdigit() and len(value) <= MAX_NUMBER_LENGTH
    if not is_number or not minimum <= int(value) <= maximum:
        return refuse(f"{name} is {value!r}; write a whole number from {minimum} to {maximum}.", default)
    return int(value)


def refuse_former_names(*, renamed: Mapping[str, str], removed: Collection[str]) -> None:
    """`renamed` has the present name of each variable by its former one."""
    for former, present in renamed.items():
        if text(former):
            refuse(f"{former} is now {present}; set that instead.", None)
    for former in removed:
        if text(former):
            refuse(f"{former} is no longer a setting; remove it.", None)


def choice(name: str, default: str, allowed: Collection[str]) -> str:
    value = text(name, default)
    if value not in allowed:
        *first, last = allowed
        return refuse(f"{name} is {value!r}; write {', '.join(first)} or {last}.", default)
    return value


def url(name: str, *, schemes: Collection[str], expected: str) -> str:
    """An address with a host, or nothing. `expected` says what is allowed."""
    value = text(name)
    if value and web_address(value, schemes) is None:
        return refuse(f"{name} is {hide_password(value)!r}; write {expected}.", "")
    return value


def hide_password(value: str) -> str:
    return PASSWORD.sub(r"\1:***@", value)


def domain(name: str, default: str) -> str:
    value = text(name)
    if value and not DOMAIN_NAME.match(value):
        return refuse(f"{name} is {value!r}; write a domain name, such as example.com.", default)
    return value or default


def hosts(name: str, default: tuple[str, ...] = ()) -> list[str]:
    """Host names as Django compares them: without scheme, port and path; `.example.com` includes its subdomains."""
    for host in names(name):
        bare = host.removeprefix(".")
        if host != "*" and not DOMAIN_NAME.match(bare) and not re.fullmatch(r"\[[0-9A-Fa-f:.]+\]", host):
            return refuse(
                f"{name} contains {host!r}; write host names such as print.example, separated by commas, "
                f"without scheme, port and path.",
                [],
            )
    return names(name, default)


def origins(name: str) -> list[str]:
    """Origins as browsers send them: scheme, host, and the port if it is not the default; nothing else."""
    for origin in names(name):
        parts = web_address(origin)
        if parts is None or origin != _write_origin(parts):
            return refuse(
                f"{name} contains {origin!r}; write origins such as https://shop.example, separated by "
                f"commas, in lower case and without a path.",
                [],
            )
    return names(name)


def _write_origin(parts: SplitResult) -> str:
    usual = {"http": 80, "https": 443}[parts.scheme]
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port not in {None, usual} else "")


def email(name: str, default: str) -> str:
    """An address, or a name and an address: `Print <no-reply@print.example>`."""
    value = text(name, default)
    address = parseaddr(value)[1]
    host = address.rpartition("@")[2]
    try:
        # A host without a dot is in the local network.
        EmailValidator(allowlist=[host] if host == "localhost" or value == default else [])(address)
    except ValidationError:
        return refuse(
            f"{name} is {value!r}; write an e-mail address, such as no-reply@print.example.", default
        )
    return value


def names(name: str, default: tuple[str, ...] = ()) -> list[str]:
    return [part.strip() for part in text(name).split(",") if part.strip()] or list(default)


def networks(name: str, default: tuple[str, ...] = ()) -> list[IPv4Network | IPv6Network]:
    """Addresses and networks, comma separated, such as 10.0.0.0/8."""
    try:
        return [ip_network(part) for part in names(name, default)]
    except ValueError as error:
        return refuse(
            f"{name} is {text(name)!r} ({error}); write networks such as 10.0.0.0/8, separated by commas.", []
        )


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
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
            return refuse(
                f"{name}_FILE names {file_name}, which cannot be read ({reason}); write the path of a file that "
                f"holds at least {MINIMUM_SECRET_LENGTH} random characters.",
                "",
            )
    if len(value) < MINIMUM_SECRET_LENGTH or len(set(value)) < 8:
        return refuse(
            f"{name} is missing or weak; set {name} or {name}_FILE to at least {MINIMUM_SECRET_LENGTH} random "
            "characters, for example the output of: "
            "python3 -c 'import secrets; print(secrets.token_urlsafe(48))'.",
            "",
        )
    return value


def secrets(name: str) -> list[str]:
    """One or more secrets, comma separated, the newest first; older ones are still read, never written."""
    values = [part.strip() for part in secret(name).split(",") if part.strip()]
    if any(len(value) < MINIMUM_SECRET_LENGTH for value in values):
        return refuse(f"{name} contains a value shorter than {MINIMUM_SECRET_LENGTH} characters.", [""])
    return values or [""]


def storage_settings(kind: str) -> dict[str, object]:
    """`kind` is `folder` or `s3`; a bucket is read from the environment."""
    if kind == "folder":
        return {
            "BACKEND": "fulfillment.core.files.storage.FolderStorage",
            "OPTIONS": {"allow_overwrite": True},
        }
    bucket = text("S3_BUCKET")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]", bucket):
        refuse(
            f"S3_BUCKET is {bucket!r}; write the name of the bucket that keeps files, 3 to 63 letters, digits, dots "
            "and hyphens, or set FILE_STORAGE to folder.",
            None,
        )
    region = text("S3_REGION")
    if region and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]{0,62}", region):
        refuse(f"S3_REGION is {region!r}; write the name of a region, such as us-east-1.", None)
    from botocore.config import Config  # noqa: PLC0415 - loads slowly, and only S3 needs it

    return {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": bucket,
            "endpoint_url": url(
                "S3_ENDPOINT_URL", schemes=("http", "https"), expected="an address such as https://s3.example"
            )
            or None,
            "region_name": region or None,
            "location": text("S3_PREFIX"),
            "file_overwrite": True,
            # The default waits a minute and tries five times, longer than any request should.
            "client_config": Config(connect_timeout=3, read_timeout=10, retries={"total_max_attempts": 2}),
        },
    }
