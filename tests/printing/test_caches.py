"""Caches bounded by weight."""

import pytest

from printing.caches import WeightedCache


@pytest.fixture
def cache():
    return WeightedCache(capacity=10, weight=len)


def test_least_recently_used_is_evicted_first(cache):
    for key in "abc":
        cache.put(key, "xxx")
    assert cache.get("a") == "xxx"

    cache.put("d", "xxx")

    assert [cache.get(key) for key in "abcd"] == ["xxx", None, "xxx", "xxx"]


def test_value_put_again_weighs_once(cache):
    cache.put("other", "xxxx")
    for _ in range(9):
        cache.put("same", "xxxxxx")

    assert cache.get("other") == "xxxx"


def test_entry_heavier_than_the_cache_stays_until_the_next(cache):
    cache.put("small", "x")
    cache.put("huge", "x" * 99)
    assert (cache.get("small"), cache.get("huge")) == (None, "x" * 99)

    cache.put("small", "x")

    assert (cache.get("small"), cache.get("huge")) == ("x", None)
