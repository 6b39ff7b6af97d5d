import hashlib
from typing import Any

import orjson


def fingerprint(record: Any) -> bytes:
    """A digest of the content. A price's Created counts only where it differs from the product's."""
    content = orjson.dumps(record, default=str, option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(content, digest_size=16).digest()
