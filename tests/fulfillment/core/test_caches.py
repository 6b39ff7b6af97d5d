"""All caches of a process are emptied at once."""

from fulfillment.core import caches
from fulfillment.core.caches import clear_caches, register_cache
from printing.caches import WeightedCache


def test_registered_caches_are_cleared_together_and_begin_with_no_weight(monkeypatch):
    monkeypatch.setattr(caches, "_registered", [])
    cache: WeightedCache[str, str] = WeightedCache(capacity=10, weight=len)
    register_cache(cache)
    cache.put("a", "x" * 10)

    clear_caches()

    assert cache.get("a") is None
    cache.put("b", "xxxxx")
    cache.put("c", "xxxxx")
    assert cache.get("b") == "xxxxx"
