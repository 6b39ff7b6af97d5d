"""Tests begin without what a process keeps; a cache that is cleared begins with no weight."""

import re
from pathlib import Path

from printing.caches import WeightedCache
from tests.support.caches import CACHES

ROOT = Path(__file__).resolve().parents[3]
CACHE = re.compile(r"^(_\w+)(?:: [^=]+)? = WeightedCache\b", re.MULTILINE)


def test_every_cache_of_the_service_is_cleared_between_tests():
    caches = {
        (".".join(path.relative_to(ROOT).with_suffix("").parts), name)
        for app in ("accounts", "applications", "delivery", "fulfillment", "production", "stores")
        for path in (ROOT / app).rglob("*.py")
        for name in CACHE.findall(path.read_text("utf-8"))
    }

    assert caches <= {(module, name) for module, names in CACHES.items() for name in names}
    assert len(caches) > 5


def test_cleared_cache_begins_with_no_weight():
    cache: WeightedCache[str, str] = WeightedCache(capacity=10, weight=len)
    cache.put("a", "x" * 10)

    cache.clear()

    assert cache.get("a") is None
    cache.put("b", "xxxxx")
    cache.put("c", "xxxxx")
    assert cache.get("b") == "xxxxx"
