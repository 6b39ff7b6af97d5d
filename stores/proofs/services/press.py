"""The print settings of a product: its preset, its profile file, and the cache of separated pictures."""

import hashlib
from contextlib import suppress
from datetime import timedelta

from django.core.files.storage import default_storage

from fulfillment.core.audit.retention import RetentionRule
from fulfillment.core.files.storage import storage_errors
from fulfillment.core.files.stored import PRESS_PICTURES, press_picture_file, read_file, write_files
from printing.press.pictures import VERSION
from printing.press.rules import PresetRules
from printing.typesetting import Press
from printing.typesetting.press import separate
from stores.presets.selectors import profile_file
from stores.proofs.selectors.proofs import ProductVersion
from stores.proofs.services.stray_files import count_old_files, remove_old_files

# A removed picture is separated again when needed.
RETENTION = timedelta(days=14)


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
