"""Values that are not rotated and need an older secret until they expire: links in mails, stored answers.

`rotate_secrets` notes when it first ran under a new first value; older values may use an older secret.
"""

import hashlib
import hmac
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.sessions.models import Session
from django.utils import timezone

from accounts.models import EmailChange, IdempotentAnswer, SecretGeneration
from accounts.services.email_changes import LIFETIME
from accounts.services.idempotency import RETENTION

PEPPERS, ENCRYPTION_KEYS, SECRET_KEY = "FULFILLMENT_PEPPERS", "FULFILLMENT_ENCRYPTION_KEYS", "SECRET_KEY"
SESSION_AGE = timedelta(seconds=settings.SESSION_COOKIE_AGE)


@dataclass(frozen=True, slots=True)
class TimeLimited:
    """`count` returns how many valid values were created before a time; without it only their lifetime is known."""

    name: str
    setting: str
    good_for: timedelta
    count: Callable[[datetime], int] | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    name: str
    setting: str
    until: datetime
    count: int | None


TIME_LIMITED = (
    TimeLimited(
        "kept answers",
        PEPPERS,
        RETENTION,
        lambda since: IdempotentAnswer.objects.filter(
            created__lt=since, created__gt=timezone.now() - RETENTION
        ).count(),
    ),
    TimeLimited(
        "changes of an e-mail address",
        PEPPERS,
        LIFETIME,
        lambda since: EmailChange.objects.filter(requested__lt=since, expires__gt=timezone.now()).count(),
    ),
    TimeLimited(
        "sessions, which may hold an open form",
        ENCRYPTION_KEYS,
        SESSION_AGE,
        lambda since: Session.objects.filter(
            expire_date__lt=since + SESSION_AGE, expire_date__gt=timezone.now()
        ).count(),
    ),
)


def note_generations() -> None:
    """Notes the current value of each secret, once."""
    for setting, values in _values().items():
        since = timezone.now() if len(values) > 1 else None
        SecretGeneration.objects.get_or_create(
            setting=setting, fingerprint=_fingerprint(values[0]), defaults={"since": since}
        )


def find_waiting(*, kinds: Iterable[TimeLimited]) -> list[Waiting]:
    """Finds what still needs an older value, even if that was removed too early."""
    now, found = timezone.now(), []
    for kind in kinds:
        since = _since(kind.setting)
        if since is None or since + kind.good_for <= now:
            continue
        count = kind.count(since) if kind.count else None
        if count != 0:
            found.append(Waiting(kind.name, kind.setting, since + kind.good_for, count))
    return found


def _since(setting: str) -> datetime | None:
    values = _values()[setting]
    noted = SecretGeneration.objects.filter(setting=setting, fingerprint=_fingerprint(values[0])).first()
    if noted is None and len(values) > 1:
        return timezone.now()
    return noted.since if noted else None


def _values() -> dict[str, list[str]]:
    return {
        PEPPERS: settings.PEPPERS,
        ENCRYPTION_KEYS: settings.ENCRYPTION_KEYS,
        SECRET_KEY: [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS],
    }


def _fingerprint(value: str) -> str:
    return hmac.digest(value.encode(), b"generation of a secret", hashlib.sha256).hex()
