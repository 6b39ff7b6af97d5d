"""Counting in Redis, where `RATE_LIMIT_REDIS_URL` names one; package `redis` of requirements/optional.txt."""

import logging
import time
from functools import cache
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

logger = logging.getLogger("accounts.rate_limits")

# While it is away the caller counts elsewhere; asking it each time would cost every request the time-out.
SECONDS_OF_PATIENCE = 5
TIMEOUT = 0.25
# A window that lasts longer than it may is one from before the clock was set back.
COUNT = """
local used = redis.call('INCR', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if used == 1 or left < 0 or left > tonumber(ARGV[1]) then
    redis.call('SET', KEYS[1], 1, 'PX', ARGV[1])
    return {1, tonumber(ARGV[1])}
end
return {used, left}
"""
GIVE_BACK = "if tonumber(redis.call('GET', KEYS[1]) or 0) > 0 then redis.call('DECR', KEYS[1]) end return 1"
FORGET = "redis.call('DEL', KEYS[1]) return 1"

_away_until = 0.0


def count(bucket: str, window: int) -> tuple[int, float] | None:
    """How many requests the bucket has had, and the seconds its window has left; None while Redis is away."""
    counted = _run(COUNT, bucket, window * 1000)
    return (counted[0], counted[1] / 1000) if counted else None


def refund(bucket: str) -> bool:
    return _run(GIVE_BACK, bucket) is not None


def forget(bucket: str) -> bool:
    return _run(FORGET, bucket) is not None


def _run(text: str, bucket: str, *arguments: int) -> Any:
    """The script's answer; None while Redis is away."""
    global _away_until
    if time.monotonic() < _away_until:
        return None
    script, error_class = _script(settings.RATE_LIMIT_REDIS_URL, text)
    try:
        return script(keys=[f"rate:{bucket}"], args=arguments)
    except error_class as error:
        _away_until = time.monotonic() + SECONDS_OF_PATIENCE
        logger.warning("Redis does not count (%s); PostgreSQL does meanwhile.", error)
        return None


@cache
def _script(url: str, text: str) -> tuple[Any, Any]:
    client, error_class = _client(url)
    return client.register_script(text), error_class


@cache
def _client(url: str) -> tuple[Any, Any]:
    try:
        import redis  # noqa: PLC0415 - optional
        from redis.backoff import NoBackoff  # noqa: PLC0415
        from redis.retry import Retry  # noqa: PLC0415
    except ImportError as missing:
        raise ImproperlyConfigured(
            "RATE_LIMIT_REDIS_URL is set, but the package redis is not installed; "
            "install requirements/optional.txt."
        ) from missing
    # Its own retries would wait for seconds; one more try finds the server behind a connection that was cut.
    client = redis.Redis.from_url(
        url, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT, retry=Retry(NoBackoff(), 1)
    )
    return client, redis.RedisError
