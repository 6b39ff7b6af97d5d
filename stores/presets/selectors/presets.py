from collections.abc import Iterable
from functools import lru_cache

import orjson

from printing.press.rules import MANAGED, PresetRules
from stores.presets.models import PrintPreset

# For the row `product` of a statement: the preset it names, as text, or null.
PRESET_OF_PRODUCT = f"({PrintPreset.RULES_SQL} WHERE preset.code = product.preset_id)"


@lru_cache(maxsize=256)
def rules_from(record: str | None) -> PresetRules:
    """The rules in the columns of PRESET_OF_PRODUCT."""
    return MANAGED if record is None else PresetRules.from_json(orjson.loads(record))


def unknown_presets(codes: Iterable[str | None]) -> set[str]:
    """Those of the codes that belong to no preset."""
    named = {code for code in codes if code}
    if not named:
        return set()
    return named.difference(PrintPreset.objects.filter(code__in=named).values_list("code", flat=True))
