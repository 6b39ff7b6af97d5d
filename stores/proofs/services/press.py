"""The print settings of a product, the cache of separated pictures, and the removal of cache files by age."""

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta

from django.core.files.storage import default_storage
from django.utils import timezone

from fulfillment.core.audit.retention import RetentionRule
from fulfillment.core.files.storage import storage_errors
from fulfillment.core.files.stored import PRESS_PICTURES, listed, press_picture_file, read_file, write_files
from printing.press.pictures import VERSION
from printing.press.rules import PresetRules
from printing.typesetting import Press
from printing.typesetting.press import separate
from stores.presets.selectors import profile_file
from stores.proofs.selectors import ProductVersion

# A removed picture is separated again when needed.
RETENTION = timedelta(days=14)


def count_old_files(folder: str, age: timedelta) -> int:
    with storage_errors():
        return sum(1 for _ in _old_files(folder, age))


def remove_old_files(folder: str, age: timedelta) -> Iterator[int]:
    with storage_errors():
        for name in _old_files(folder, age):
            default_storage.delete(name)
            yield 1


def _old_files(folder: str, age: timedelta) -> Iterator[str]:
    """Files in the shards of a folder."""
    before = timezone.now() - age
    for shard in listed(folder)[0]:
        for file in listed(f"{folder}/{shard}")[1]:
            name = f"{folder}/{shard}/{file}"
            try:
                is_old = default_storage.get_modified_time(name) < before
            except FileNotFoundError:
                continue
            if is_old:
                yield name


def press_of(product: ProductVersion) -> Press:
    rules = product.rules
    return Press(
        rules=rules,
        profile=profile_file(rules.profile),
        title=product.external_id,
        separate=_Separating(rules).separate,
    )


def retention_rules() -> list[RetentionRule]:
    return [
        RetentionRule(
            "separated pictures",
            lambda: count_old_files(PRESS_PICTURES, RETENTION),
            lambda batch: remove_old_files(PRESS_PICTURES, RETENTION),
        )
    ]


class _Separating:
    """Separates pictures and caches them. Two callers may do the same work at once and write equal bytes."""

    def __init__(self, rules: PresetRules) -> None:
        self._rules = rules

    def separate(self, content: bytes) -> bytes:
        conversion = f"{VERSION} {self._rules.profile} {self._rules.highest_ink}"
        name = press_picture_file(
            hashlib.sha256(content).hexdigest(), hashlib.sha256(conversion.encode()).hexdigest()[:16]
        )
        with suppress(FileNotFoundError), storage_errors():
            if default_storage.exists(name):
                return read_file(name)
        separated = separate(content, profile_file(self._rules.profile), self._rules.highest_ink)
        with storage_errors():
            write_files([(name, separated)])
        return separated
