"""Which names in a folder are new since the last look, so that a hundred thousand old ones cost little."""

import os
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from production.adapters.open_folder import OpenFolder

# A change within this time of the look may not have moved the folder's time.
COARSE_SECONDS = 2.0
# Clocks of file servers are odd: all names are listed again after this time.
LISTED_AGAIN_SECONDS = 300.0


@dataclass(slots=True)
class _Look:
    changed_ns: int = 0
    at: float = 0.0
    is_coarse: bool = True
    names: set[str] = field(default_factory=set)
    unsettled: set[str] = field(default_factory=set)


# By path, for this process; after a restart all names are new.
_LOOKS: dict[str, _Look] = {}


def new_names(folder: OpenFolder) -> list[str]:
    """Names that are not settled yet, in no order. Lists the folder only if it changed."""
    look = _LOOKS.setdefault(str(folder.path), _Look())
    changed_ns = os.fstat(folder.descriptor).st_mtime_ns
    is_recent = time.monotonic() - look.at < LISTED_AGAIN_SECONDS
    if is_recent and look.changed_ns == changed_ns and not look.is_coarse:
        return list(look.unsettled)
    found = set(folder.names())
    look.changed_ns, look.at = changed_ns, time.monotonic()
    look.is_coarse = time.time() - changed_ns / 1e9 < COARSE_SECONDS
    look.names, look.unsettled = found, (look.unsettled & found) | (found - look.names)
    return list(look.unsettled)


def settle_names(folder: OpenFolder, names: Collection[str]) -> None:
    """These names need no look again."""
    _LOOKS[str(folder.path)].unsettled.difference_update(names)


def forget_names(path: Path) -> None:
    """All names of this folder are new again."""
    _LOOKS.pop(str(path), None)
