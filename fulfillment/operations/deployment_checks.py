"""Warnings of `manage.py check --deploy` about valid but unsafe settings; see docs/operating/settings.md."""

import importlib.util
import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Info, Tags, register
from django.core.checks import Warning as Concern
from django.db import Error as DatabaseError
from django.http.request import split_domain_port, validate_host
from django.utils.module_loading import import_string

from fulfillment.core.health import failures_by_check
from fulfillment.core.plugins import offered_values
from fulfillment.local.development import CHOSEN_BY
from fulfillment.operations.secret_rotation import settings_that_do_not_fit

# The widest private networks are 10.0.0.0/8 and fc00::/7.
MIN_PREFIX = {4: 8, 6: 7}
# Browsers' preload lists require a year at least, and all subdomains.
PRELOAD_SECONDS = 31_536_000
INSECURE = "django-insecure-"
PACKAGES = {
    "SENTRY_DSN": ("sentry_sdk",),
    "OTEL_EXPORTER_OTLP_ENDPOINT": (
        "opentelemetry.sdk",
        "opentelemetry.exporter.otlp.proto.http",
        "opentelemetry.instrumentation.django",
        "opentelemetry.instrumentation.psycopg",
    ),
}


@register(Tags.security, deploy=True)
def check_deployment(app_configs: Any, **options: Any) -> list[CheckMessage]:
    if settings.DEVELOPMENT:
        return [_refuse_development()]
    checks = (
        _check_secrets,
        _stored_secrets,
        _check_hosts,
        _check_networks,
        _check_https,
        _check_hsts,
        _check_database,
        _check_packages,
        _check_mail,
        _check_folders,
        _check_static_files,
        _check_parts,
        *offered_values("operations", "deployment_checks"),
    )
    return [message for check in checks for message in check()]


def _refuse_development() -> Error:
    file = os.environ.get(CHOSEN_BY)
    origin = f"{file}, which `make run` wrote, and no variable of production" if file else "FULFILLMENT_MODE"
    return Error(
        f"This checked development mode, chosen by {origin}; production was not checked.",
        hint="Set the variables of production, FULFILLMENT_MODE=production among them, and run it again.",
        id="fulfillment.E001",
    )


def _check_secrets() -> Iterator[CheckMessage]:
    kinds = {
        "SECRET_KEY": [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS],
        "FULFILLMENT_PEPPERS": settings.PEPPERS,
        "FULFILLMENT_ENCRYPTION_KEYS": settings.ENCRYPTION_KEYS,
        "METRICS_TOKEN": [settings.METRICS_TOKEN] if settings.METRICS_TOKEN else [],
    }
    names: dict[str, list[str]] = {}
    for name, values in kinds.items():
        for value in dict.fromkeys(values):
            names.setdefault(value, []).append(name)
        if any(value.startswith(INSECURE) for value in values):
            yield Error(
                f"{name} holds a value that begins with {INSECURE}: a generated example.",
                hint="Make one with: python3 -c 'import secrets; print(secrets.token_urlsafe(48))'.",
                id="fulfillment.E002",
            )
    for equal in names.values():
        if len(equal) > 1:
            yield Error(
                f"{' and '.join(equal)} have the same value: anyone who learns one knows the others.",
                hint="Generate a separate value for each.",
                id="fulfillment.E003",
            )


def _stored_secrets() -> Iterator[CheckMessage]:
    try:
        names = settings_that_do_not_fit()
    except DatabaseError:
        # The checks of accounts say that the database did not answer.
        return
    for name in names:
        yield Error(
            f"{name} did not create the stored keys, so no client could sign in.",
            hint="Set the value they were written with, also beside a new one: docs/operating/secrets.md.",
            id="fulfillment.E012",
        )


def _check_hosts() -> Iterator[CheckMessage]:
    if "*" in settings.ALLOWED_HOSTS:
        yield Error(
            "ALLOWED_HOSTS is *: the service responds to any host name.",
            hint="Name the hosts.",
            id="fulfillment.E004",
        )
        return
    host = split_domain_port(urlsplit(settings.PUBLIC_URL).netloc)[0]
    if not validate_host(host, settings.ALLOWED_HOSTS):
        yield Error(
            f"ALLOWED_HOSTS leaves out {host}, the host of PUBLIC_URL: every request to it is refused.",
            hint=f"Add {host}.",
            id="fulfillment.E005",
        )


def _check_networks() -> Iterator[CheckMessage]:
    meanings = {
        "TRUSTED_PROXIES": "anyone in it may say what a client's address is",
        "WEBHOOK_ALLOWED_NETWORKS": "webhooks may go to any address in it",
        "METRICS_NETWORKS": "anyone in it may read /metrics",
    }
    for name, meaning in meanings.items():
        for network in getattr(settings, name):
            if network.prefixlen >= MIN_PREFIX[network.version]:
                continue
            yield Error(
                f"{name} contains {network}, which is too wide: {meaning}.",
                hint=f"Name networks of yours, at most a /{MIN_PREFIX[4]} of IPv4 and a /{MIN_PREFIX[6]} of IPv6.",
                id="fulfillment.E006",
            )


def _check_https() -> Iterator[CheckMessage]:
    if settings.SECURE_SSL_REDIRECT and not settings.BEHIND_TLS_PROXY:
        yield Concern(
            "BEHIND_TLS_PROXY is 0: behind a proxy that ends TLS every request looks like http and is redirected to "
            "https without end.",
            hint="Set BEHIND_TLS_PROXY=1 behind a proxy that always sets X-Forwarded-Proto.",
            id="fulfillment.W003",
        )


def _check_hsts() -> Iterator[CheckMessage]:
    is_long = settings.SECURE_HSTS_SECONDS >= PRELOAD_SECONDS
    if settings.SECURE_HSTS_PRELOAD and not (settings.SECURE_HSTS_INCLUDE_SUBDOMAINS and is_long):
        yield Error(
            "HSTS_PRELOAD is 1, but the lists of browsers take a host only with HSTS_INCLUDE_SUBDOMAINS=1 and "
            f"HSTS_SECONDS of {PRELOAD_SECONDS} or more.",
            hint="Set these as well, or HSTS_PRELOAD=0.",
            id="fulfillment.E007",
        )
    if not settings.SECURE_HSTS_SECONDS:
        yield Concern(
            "HSTS_SECONDS is 0: the first request of a browser is plain HTTP, which an attacker can answer.",
            hint="Set an hour first (3600), more once https works everywhere.",
            id="fulfillment.W001",
        )


def _check_database() -> Iterator[CheckMessage]:
    database = settings.DATABASES["default"]
    host, mode = str(database["HOST"]), str(database["OPTIONS"].get("sslmode", "prefer"))
    is_local = not host or host.startswith("/") or host in {"localhost", "127.0.0.1", "::1"}
    if not is_local and mode in {"disable", "allow", "prefer"}:
        yield Info(
            f"DATABASE_URL goes to {host} with sslmode={mode}: others may read the connection.",
            hint="Write ?sslmode=verify-full where the network is not yours alone.",
            id="fulfillment.I001",
        )


def _check_packages() -> Iterator[CheckMessage]:
    values = {
        "SENTRY_DSN": settings.SENTRY_DSN,
        "OTEL_EXPORTER_OTLP_ENDPOINT": settings.OTLP_ENDPOINT,
    }
    for name, modules in PACKAGES.items():
        missing = [module for module in modules if values[name] and not _is_installed(module)]
        if missing:
            yield Error(
                f"{name} is set, but the package {missing[0]} is not installed: the service would not start.",
                hint="Install requirements/optional.txt, or unset it.",
                id="fulfillment.E008",
            )


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:
        return False


def _check_mail() -> Iterator[CheckMessage]:
    try:
        import_string(settings.EMAIL_BACKEND)
    except ImportError:
        yield Error(
            f"EMAIL_BACKEND is {settings.EMAIL_BACKEND!r}, which cannot be imported: no mail would be sent.",
            hint="Unset it for SMTP, or write a class, such as django.core.mail.backends.smtp.EmailBackend.",
            id="fulfillment.E009",
        )


def _check_folders() -> Iterator[CheckMessage]:
    """Checks folders: a missing one is created later, which fails if a file has its name."""
    folders = [("STATIC_ROOT", settings.STATIC_ROOT), ("MEDIA_ROOT", settings.MEDIA_ROOT)]
    for name, folder in [*folders, *(("PRODUCTION_FOLDERS", each) for each in settings.PRODUCTION_FOLDERS)]:
        if folder is None:
            continue
        existing = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
        if not existing.is_dir():
            yield Error(
                f"{name} is {str(folder)!r}, but {existing} is not a folder.",
                hint="Write the path of a folder, or of one that can be made.",
                id="fulfillment.E010",
            )
    if settings.FILE_STORAGE == "folder" and settings.MEDIA_ROOT.resolve().is_relative_to(settings.BASE_DIR):
        yield Concern(
            f"MEDIA_ROOT is {str(settings.MEDIA_ROOT)!r}, in the folder of this release: the next one has none of the "
            "files, and under the systemd units nothing can be written there.",
            hint="Set MEDIA_ROOT to a folder that outlives releases, such as /opt/fulfillment/var/media.",
            id="fulfillment.W004",
        )


def _check_static_files() -> Iterator[CheckMessage]:
    """Everyone may read what is below STATIC_ROOT when a web process starts."""
    public = settings.STATIC_ROOT
    private = [("MEDIA_ROOT", settings.MEDIA_ROOT)]
    private += [("PRODUCTION_FOLDERS", each) for each in settings.PRODUCTION_FOLDERS]
    for name, folder in private:
        if public and folder.resolve().is_relative_to(public.resolve()):
            yield Error(
                f"{name} is {str(folder)!r}, in STATIC_ROOT: everyone could read its files.",
                hint="Set STATIC_ROOT to a folder of its own.",
                id="fulfillment.E013",
            )


def _check_parts() -> Iterator[CheckMessage]:
    """Says what /readyz would say from here. The checks of accounts look at the database; no worker need run yet."""
    for name, failure in failures_by_check().items():
        if failure and name not in {"database", "worker"}:
            yield Concern(
                f"{failure[0].upper()}{failure[1:]}.",
                hint=f"See the line of {name} in docs/operating/incidents.md.",
                id="fulfillment.W005",
            )
