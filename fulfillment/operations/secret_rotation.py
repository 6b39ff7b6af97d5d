"""Hashes and encrypts stored secrets again with the newest pepper and encryption key, beside the running service.

While it runs, every value is found and read under old and new alike: the settings name both.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from fulfillment.core.db.locks import exclusive_job
from fulfillment.core.plugins import offered_values
from fulfillment.core.secrets import (
    SecretUnreadable,
    StoredSecret,
    decrypt,
    digest,
    digests,
    encrypt,
    is_newest,
)

BATCH = 200
# Rows of each kind that show which values it was written with: one alone may be damaged.
SAMPLE = 20


@dataclass(slots=True)
class Rotated:
    """`unreadable` are the primary keys of rows that none of the encryption keys opens."""

    name: str
    total: int
    checked: int = 0
    rewritten: int = 0
    unreadable: tuple[Any, ...] = ()


def stored_secrets() -> list[StoredSecret]:
    """The secrets of all apps."""
    return [secret for secrets in offered_values("operations", "STORED_SECRETS") for secret in secrets]


def rotate_secrets(
    *,
    on_progress: Callable[[Rotated], None] = lambda rotated: None,
    batch: int = BATCH,
) -> list[Rotated]:
    """Rotates in batches, one transaction each; the next run continues a stopped one. Raises Conflict if one is
    running.
    """
    with exclusive_job("The rotation of secrets"):
        return [_walk(secret, on_progress, batch, change=True) for secret in stored_secrets()]


def find_old_secrets() -> list[Rotated]:
    """Reports what a rotation would rewrite, without changes."""
    return [_walk(secret, lambda rotated: None, BATCH, change=False) for secret in stored_secrets()]


def settings_that_do_not_fit() -> list[str]:
    """Settings whose values fit none of the sampled secrets of a kind: those it was written with are missing."""
    return sorted({name for secret in stored_secrets() if (name := _find_misfit(secret))})


def _find_misfit(secret: StoredSecret) -> str:
    misfit = ""
    for row in _rows_after(secret, None, SAMPLE, lock=False):
        misfit = _misfit_of_row(secret, row)
        if not misfit:
            return ""
    return misfit


def _misfit_of_row(secret: StoredSecret, row: Any) -> str:
    try:
        value = decrypt(getattr(row, secret.ciphertext))
    except SecretUnreadable:
        return "FULFILLMENT_ENCRYPTION_KEYS"
    if secret.digest and getattr(row, secret.digest) not in digests(value):
        return "FULFILLMENT_PEPPERS"
    return ""


def _walk(
    secret: StoredSecret, on_progress: Callable[[Rotated], None], batch: int, *, change: bool
) -> Rotated:
    report = Rotated(secret.name, secret.model._base_manager.count())  # noqa: SLF001
    last = None
    while True:
        with transaction.atomic():
            rows = _rows_after(secret, last, batch, lock=change)
            if not rows:
                return report
            for row, value in _outdated_rows(secret, rows, report):
                report.rewritten += 1
                if change:
                    _rewrite(secret, row, value)
        last = rows[-1].pk
        report.checked += len(rows)
        on_progress(report)


def _rows_after(secret: StoredSecret, last: Any, batch: int, *, lock: bool) -> list[Any]:
    rows = secret.model._base_manager.order_by("pk")  # noqa: SLF001 - past managers that hide rows
    if last is not None:
        rows = rows.filter(pk__gt=last)
    if lock:
        rows = rows.select_for_update(of=("self",), no_key=True)
    columns = [secret.ciphertext, *([secret.digest] if secret.digest else [])]
    return list(rows.only("pk", *columns)[:batch])


def _outdated_rows(secret: StoredSecret, rows: list[Any], report: Rotated) -> Iterator[tuple[Any, str]]:
    for row in rows:
        ciphertext = getattr(row, secret.ciphertext)
        try:
            value = decrypt(ciphertext)
        except SecretUnreadable:
            report.unreadable += (row.pk,)
            continue
        stored_digest = getattr(row, secret.digest) if secret.digest else None
        if not is_newest(ciphertext) or (stored_digest is not None and stored_digest != digest(value)):
            yield row, value


def _rewrite(secret: StoredSecret, row: Any, value: str) -> None:
    changes: dict[str, Any] = {secret.ciphertext: encrypt(value)}
    if secret.digest:
        changes[secret.digest] = digest(value)
    secret.model._base_manager.filter(pk=row.pk).update(**changes)  # noqa: SLF001
