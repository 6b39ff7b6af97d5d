"""Saves and checks providers, and tracks their health."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography.fernet import InvalidToken
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, Value
from django.db.models.functions import Greatest
from django.utils import timezone

from fulfillment.core.db.changes import differs_from_stored
from fulfillment.core.errors import Conflict, DomainError, Fault, Invalid, Unavailable
from fulfillment.core.secrets import digest, encrypt, generate_secret
from production.adapters.registry import setting_fields
from production.interface import ProviderRefused, ProviderUnavailable
from production.providers.models import AdapterKind, Provider
from production.providers.selectors.providers import adapter_of, provider_secrets
from production.settings_schema import SettingField, check_settings, clean_settings

POSTBACK_PREFIX = "sfb_"
# The least time between two records of success, because all jobs share the row.
NOTED_EVERY = timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class ProviderValues:
    """`settings` holds secrets as well; an empty secret keeps the stored one."""

    code: str
    name: str
    adapter: str
    settings: Mapping[str, Any]
    is_enabled: bool = True
    daily_capacity: int | None = None


@transaction.atomic
def save_provider(*, values: ProviderValues, provider: Provider | None = None) -> Provider:
    """Saves a provider with checked settings; the kind of an existing one cannot change."""
    if values.adapter not in AdapterKind.values:
        raise Invalid.at("/adapter", "adapter_unknown", f"Adapter: use {', '.join(AdapterKind.values)}.")
    if provider is not None:
        provider = Provider.objects.select_for_update(no_key=True).get(pk=provider.pk)
        if provider.adapter != values.adapter:
            raise Conflict(
                "The adapter of a provider cannot be changed. Add another provider.", code="adapter_fixed"
            )
    known = provider_secrets(provider) if provider else {}
    clean, secrets = check_values(values=values, provider=provider)
    record = provider or _new_provider()
    record.code, record.name, record.adapter = values.code, values.name, values.adapter
    record.is_enabled, record.daily_capacity = values.is_enabled, values.daily_capacity
    record.settings = clean
    if provider is None or dict(known) != secrets:
        record.secrets_ciphertext = encrypt(json.dumps(secrets))
    if provider is None or differs_from_stored(record):
        record.updated = timezone.now()
    record.failing_since, record.last_error = None, ""
    record.save()
    return record


def _new_provider() -> Provider:
    secret = generate_secret(POSTBACK_PREFIX)
    return Provider(
        secrets_ciphertext=encrypt("{}"), postback_ciphertext=encrypt(secret), postback_digest=digest(secret)
    )


def check_values(
    *, values: ProviderValues, provider: Provider | None = None
) -> tuple[dict[str, Any], dict[str, str]]:
    """The clean settings and secrets; raises Invalid with a fault for each mistake, at /settings/<name>."""
    known = provider_secrets(provider) if provider else {}
    fields = setting_fields(values.adapter)
    hidden = {field.name for field in fields if field.secret}
    entered = {name: value for name, value in values.settings.items() if name not in hidden or value}
    whole = {**known, **entered}
    mistakes = check_settings(fields, whole) or _saved_mistakes(fields, clean_settings(fields, whole))
    if mistakes:
        faults = [Fault(f"/settings/{name}", "setting_invalid", text) for name, text in mistakes.items()]
        labels = {field.name: field.label for field in fields}
        name, text = next(iter(mistakes.items()))
        raise Invalid(f"{labels.get(name, name)}: {text}", code="settings_invalid", faults=faults)
    clean = clean_settings(fields, whole)
    if values.adapter == AdapterKind.FOLDER:
        _check_folders(clean)
    secrets = {name: str(value) for name, value in clean.items() if name in hidden and value}
    return {name: value for name, value in clean.items() if name not in hidden}, secrets


def _saved_mistakes(fields: Sequence[SettingField], clean: Mapping[str, Any]) -> dict[str, str]:
    found = {field.name: field.check_saved(clean[field.name]) for field in fields if field.check_saved}
    return {name: mistake for name, mistake in found.items() if mistake}


def _check_folders(clean: Mapping[str, Any]) -> None:
    """Requires hot folders below PRODUCTION_FOLDERS, so that no other files can be overwritten."""
    roots = [Path(root).resolve() for root in settings.PRODUCTION_FOLDERS]
    for name in ("folder", "return_folder"):
        place = clean.get(name)
        if place and not any(Path(place).resolve().is_relative_to(root) for root in roots):
            allowed = ", ".join(str(root) for root in roots) or "none"
            message = f"{place} is outside of the folders of PRODUCTION_FOLDERS: {allowed}."
            raise Invalid.at(f"/settings/{name}", "folder_not_allowed", message)
    if clean.get("return_folder") and clean["return_folder"] == clean["folder"]:
        raise Invalid.at(
            "/settings/return_folder", "folder_twice", "The return folder must be another folder."
        )


@transaction.atomic
def rotate_postback_secret(*, provider: Provider) -> Provider:
    """The old address stops receiving at once."""
    secret = generate_secret(POSTBACK_PREFIX)
    locked = Provider.objects.select_for_update(no_key=True).get(pk=provider.pk)
    locked.postback_ciphertext, locked.postback_digest = encrypt(secret), digest(secret)
    locked.updated = timezone.now()
    locked.save(update_fields=["postback_ciphertext", "postback_digest", "updated"])
    return locked


def check_provider(*, provider: Provider) -> str:
    """Tests the connection and returns a message; raises DomainError. Call it outside of transactions."""
    try:
        reached = adapter_of(provider).check_connection()
    except (ProviderRefused, ValueError) as error:
        note_failure(provider=provider, message=str(error))
        raise Conflict(str(error), code="provider_refused") from error
    except ProviderUnavailable as error:
        note_failure(provider=provider, message=str(error))
        raise Unavailable(str(error), code="provider_unavailable") from error
    except InvalidToken as error:
        message = "The stored secrets cannot be decrypted. Enter them again."
        note_failure(provider=provider, message=message)
        raise Conflict(message, code="secrets_unreadable") from error
    note_success(provider=provider)
    return reached


def note_success(*, provider: Provider) -> None:
    now = timezone.now()
    stale = (
        Q(failing_since__isnull=False) | Q(last_success__isnull=True) | Q(last_success__lt=now - NOTED_EVERY)
    )
    Provider.objects.filter(stale, pk=provider.pk).update(failing_since=None, last_error="", last_success=now)


def note_failure(*, provider: Provider, message: str, since: datetime | None = None) -> None:
    """The first one counts: from then on the provider is failing, until something succeeds.

    `since` is when the try began that failed: a provider that hangs fails from then on, unless another try succeeded.
    """
    text = " ".join(message.split())[:1000]
    known = Provider.objects.filter(pk=provider.pk)
    began = Greatest(Value(since or timezone.now()), F("last_success"))
    known.filter(failing_since__isnull=True).update(failing_since=began, last_error=text)
    known.exclude(last_error=text).update(last_error=text)


def review_failing_providers() -> int:
    """Tests failing providers again, periodically; returns how many recovered."""
    recovered = 0
    for provider in Provider.objects.filter(is_enabled=True, failing_since__isnull=False):
        try:
            check_provider(provider=provider)
            recovered += 1
        except DomainError:
            continue
    return recovered
