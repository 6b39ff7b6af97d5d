"""Makes UUIDs of version 7, which begin with their time, and reads this time back.

Later ones sort later, so that an index of them grows at its end.
"""

import secrets
from datetime import UTC, datetime
from uuid import UUID

from django.utils import timezone


def new_uuid7(moment: datetime | None = None) -> UUID:
    milliseconds = int((moment or timezone.now()).timestamp() * 1000)
    return UUID(
        int=milliseconds << 80 | 7 << 76 | secrets.randbits(12) << 64 | 2 << 62 | secrets.randbits(62)
    )


def uuid7_time(identifier: UUID) -> datetime | None:
    """None for a UUID of another version, which holds no such time."""
    return datetime.fromtimestamp((identifier.int >> 80) / 1000, UTC) if identifier.version == 7 else None
