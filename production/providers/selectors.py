"""Providers with their adapters, settings and secrets."""

import hmac
import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from fulfillment.core.secrets import SecretUnreadable, decrypt, digests
from production.adapters.registry import adapter_kind
from production.interface import Adapter
from production.providers.ledger import ProviderLedger
from production.providers.models import Provider

# A provider counts as up for this time after its first failure: its jobs are retried.
FAILOVER_AFTER = timedelta(seconds=20)


class ProviderSecretsLost(ValueError):
    """No encryption key opens what is stored."""

    def __init__(self) -> None:
        super().__init__("No encryption key opens the stored secrets. Enter them again.")


def adapter_of(provider: Provider) -> Adapter:
    """Raises ValueError where the settings no longer fit, and its ProviderSecretsLost."""
    secrets = provider_secrets(provider)
    kind = adapter_kind(provider.adapter)
    values = kind.settings({**provider.settings, **secrets}).read()
    secret_values = {name: value for name in kind.settings.secrets if (value := values.pop(name))}
    return kind.build(values, secret_values, ProviderLedger(provider.pk))


def plain_settings(provider: Provider) -> Mapping[str, Any]:
    """Typed settings without secrets; raises ValueError where they no longer fit."""
    return adapter_kind(provider.adapter).settings(provider.settings, has_secrets=False).read()


def provider_secrets(provider: Provider) -> Mapping[str, str]:
    try:
        secrets: dict[str, str] = json.loads(decrypt(provider.secrets_ciphertext))
    except SecretUnreadable as error:
        raise ProviderSecretsLost from error
    return secrets


def readable_secrets(provider: Provider | None) -> Mapping[str, str]:
    """None where no key opens them, so that they can be entered again."""
    try:
        return provider_secrets(provider) if provider else {}
    except ProviderSecretsLost:
        return {}


def postback_url(provider: Provider) -> str:
    """Empty where no key opens its secret."""
    try:
        secret = decrypt(provider.postback_ciphertext)
    except SecretUnreadable:
        return ""
    return settings.PUBLIC_URL + reverse("production_postback", args=[provider.code, secret])


def provider_at_address(code: str, secret: str) -> Provider | None:
    """The enabled provider of this postback URL."""
    provider = Provider.objects.filter(code=code).first()
    stored_digest = provider.postback_digest if provider else "0" * 64
    fits = [hmac.compare_digest(stored_digest, digest) for digest in digests(secret)]
    return provider if any(fits) else None


def is_down(provider: Provider) -> bool:
    return has_failed_long(provider.failing_since)


def has_failed_long(since: datetime | None) -> bool:
    """Whether jobs should go to another provider by now."""
    return since is not None and since <= timezone.now() - FAILOVER_AFTER


def failing_providers() -> QuerySet[Provider]:
    return Provider.objects.filter(is_enabled=True, failing_since__lte=timezone.now() - FAILOVER_AFTER)
