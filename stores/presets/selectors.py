"""Rules of presets, and operators' output profiles as local files, because the renderers read no others."""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import orjson

from fulfillment.core.db.prepared import fetch_row
from fulfillment.core.files.folders import TemporaryFiles
from printing.press.profiles import SHIPPED
from printing.press.rules import BUILT_IN, PresetRules
from stores.presets.models import PrintPreset

# For the row `product` of a statement: the preset it names, as text, or null.
PRESET_OF_PRODUCT = f"({PrintPreset.RULES_SQL} WHERE preset.code = product.preset_id)"


_files = TemporaryFiles("output-profiles-")
CONTENT = "SELECT content FROM stores_outputprofile WHERE sha256 = %s"


@lru_cache(maxsize=256)
def rules_from(record: str | None) -> PresetRules:
    """The rules in the columns of PRESET_OF_PRODUCT."""
    return BUILT_IN if record is None else PresetRules.from_json(orjson.loads(record))


def unknown_presets(codes: Iterable[str | None]) -> set[str]:
    """The codes that belong to no preset."""
    requested_codes = {code for code in codes if code}
    if not requested_codes:
        return set()
    return requested_codes.difference(
        PrintPreset.objects.filter(code__in=requested_codes).values_list("code", flat=True)
    )


def profile_file(sha256: str) -> Path:
    """The file of a profile, which never changes; without a name the shipped one."""
    if not sha256:
        return SHIPPED
    return _files.path(f"{sha256}.icc", lambda: _content(sha256))


def _content(sha256: str) -> bytes:
    row = fetch_row(CONTENT, (sha256,))
    if row is None:
        raise LookupError(f"There is no output profile {sha256}.")
    return bytes(row[0])
