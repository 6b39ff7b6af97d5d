"""Saves and checks providers, and tracks their health."""

import json
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import F, Q, Value
from django.db.models.functions import Greatest
from django.utils import timezone

from fulfillment.core.db.changes import differs_from_stored
from fulfillment.core.errors import Conflict, DomainError, Fault, Invalid, Unavailable
from fulfillment.core.secrets import digest, encrypt, generate_secret
from production.adapters.registry import adapter_kind, adapter_kinds
from production.interface import ProviderRefused, ProviderUnavailable
from production.providers.models import Provider
from production.providers.selectors import ProviderSecretsLost, adapter_of, provider_secrets, readable_secrets
from production.settings_form import SettingsForm

logger = logging.getLogger(__name__)

POSTBACK_PREFIX = "sfb_"
# The least time between two records of success, because all jobs share the row.
NOTED_EVERY = timedelta(seconds=15)
# Users of a server may each have a root of their own there.
PLACE = ("host", "port", "username", "return_folder")
# Failing providers tested at once; a test takes up to two minutes.
REVIEWED_AT_ONCE = 16


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
    if values.adapter not in adapter_kinds():
        raise Invalid.at("/adapter", "adapter_unknown", f"Adapter: use {', '.join(adapter_kinds())}.")
    if provider is not None:
        provider = Provider.objects.select_for_update(no_key=True).get(pk=provider.pk)
        if provider.adapter != values.adapter:
            raise Conflict(
                "The adapter of a provider cannot be changed. Add another provider.", code="adapter_fixed"
            )
    clean, secrets = check_settings(values=values, provider=provider)
    record = provider or _new_provider()
    record.code, record.name, record.adapter = values.code, values.name, values.adapter
    record.is_enabled, record.daily_capacity = values.is_enabled, values.daily_capacity
    record.settings = clean
    if provider is None or not _has_stored(provider, secrets):
        record.secrets_ciphertext = encrypt(json.dumps(secrets))
    if provider is None or differs_from_stored(record):
        record.updated = timezone.now()
    record.failing_since, record.last_error = None, ""
    record.save()
    return record


def _has_stored(provider: Provider, secrets: Mapping[str, str]) -> bool:
    """False where no key opens what is stored, even if there was no secret in it."""
    try:
        return provider_secrets(provider) == secrets
    except ProviderSecretsLost:
        return False


def _new_provider() -> Provider:
    secret = generate_secret(POSTBACK_PREFIX)
    return Provider(
        secrets_ciphertext=encrypt("{}"), postback_ciphertext=encrypt(secret), postback_digest=digest(secret)
    )


def check_settings(
    *, values: ProviderValues, provider: Provider | None = None
) -> tuple[dict[str, Any], dict[str, str]]:
    """The clean settings and secrets; raises Invalid with a fault for each mistake, at /settings/<name>."""
    stored_secrets = readable_secrets(provider)
    form_class = adapter_kind(values.adapter).settings
    secret_names = form_class.secrets
    entered = {name: value for name, value in values.settings.items() if name not in secret_names or value}
    form = form_class({**stored_secrets, **entered})
    if form.is_valid():
        form.check_saved()
        if values.is_enabled:
            _refuse_shared_returns(form, values.adapter, provider)
    if mistakes := form.mistakes:
        faults = [Fault(f"/settings/{name}", "setting_invalid", text) for name, text in mistakes.items()]
        name, text = next(iter(mistakes.items()))
        label = form.fields[name].label if name in form.fields else "Settings"
        raise Invalid(f"{label}: {text}", code="settings_invalid", faults=faults)
    clean = form.read()
    secrets = {name: value for name in secret_names if (value := clean.pop(name))}
    return clean, secrets


def _refuse_shared_returns(form: SettingsForm, adapter: str, provider: Provider | None) -> None:
    """Adds a mistake where another provider would read reports that are meant for this one."""
    place = {name: value for name in PLACE if (value := form.cleaned_data.get(name))}
    if "return_folder" not in place:
        return
    conditions = {f"settings__{name}": value for name, value in place.items()}
    others = Provider.objects.filter(adapter=adapter, is_enabled=True, **conditions)
    others = others.exclude(pk=provider.pk) if provider else others
    if other := others.first():
        form.add_error("return_folder", f"Use another return folder: {other} reads this one already.")


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
    return _run_check(provider, lambda: _reach_provider(provider))


def _reach_provider(provider: Provider) -> str:
    return adapter_of(provider).check_connection()


def _run_check(provider: Provider, check: Callable[[], str]) -> str:
    try:
        message_of_check = check()
    except (ProviderRefused, ValueError) as error:
        note_failure(provider=provider, message=str(error))
        code = "secrets_unreadable" if isinstance(error, ProviderSecretsLost) else "provider_refused"
        raise Conflict(str(error), code=code) from error
    except ProviderUnavailable as error:
        note_failure(provider=provider, message=str(error))
        raise Unavailable(str(error), code="provider_unavailable") from error
    note_success(provider=provider)
    return message_of_check


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
    providers = Provider.objects.filter(pk=provider.pk)
    began = Greatest(Value(since or timezone.now()), F("last_success"))
    providers.filter(failing_since__isnull=True).update(failing_since=began, last_error=text)
    providers.exclude(last_error=text).update(last_error=text)


def _reach_in_thread(provider: Provider) -> str:
    try:
        return _reach_provider(provider)
    finally:
        connection.close()


def review_failing_providers() -> int:
    """Tests failing providers again, periodically; returns how many recovered."""
    recovered = 0
    failing = Provider.objects.filter(is_enabled=True, failing_since__isnull=False)
    # In threads, because a slow provider must not delay others; only this one writes to the database.
    with ThreadPoolExecutor(REVIEWED_AT_ONCE) as pool:
        checks = {pool.submit(_reach_in_thread, provider): provider for provider in failing}
        for check in as_completed(checks):
            try:
                _run_check(checks[check], check.result)
                recovered += 1
            except DomainError:
                continue
            except Exception:
                # What one provider answers must not keep others from recovering.
                logger.exception("The check of provider %s failed", checks[check])
    return recovered
