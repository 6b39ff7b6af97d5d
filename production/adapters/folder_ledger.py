"""Ledger entries that release 0.1.0 wrote into the hot folder: they are carried over, so that no job comes twice.

The press could write there. So an entry that is not as it was written is refused, and none leads out of the folder.
"""

import json
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import PurePath
from typing import Any

from production.adapters.open_folder import OpenFolder, new_names, settle_names
from production.interface import CANCELLED, DONE, PREPARED, Ledger, LedgerEntry

WORK = ".fulfillment"
OLD_LEDGER, OLD_WAITING = "jobs", "waiting"
WORK_NAME = re.compile(r"(?:new|cancelled)-[0-9a-f]{32}")
NUMBER = re.compile(r"G?[0-9]{1,18}(?:-[0-9]{1,6}){0,2}")
DIGEST = re.compile(r"[0-9a-f]{64}")
MARK = re.compile(r"[A-Za-z]{1,20}")
MAX_ENTRY_BYTES = 64 * 1024
CARRIED_AT_ONCE = 500
# A worker of the release before may still run beside this one and read its entries.
KEPT_SECONDS = 86_400


def find_entry(hot: OpenFolder, ledger: Ledger, number: str) -> LedgerEntry | None:
    """The entry of the ledger, or an old one. Raises ValueError for an old one that is damaged or was changed."""
    if (entry := ledger.read(number)) is not None:
        return entry
    with suppress(FileNotFoundError), hot.folder(WORK) as work, work.folder(OLD_LEDGER) as old:
        return ledger.create(number, _read_entry(old, number))
    return None


def carry_over(hot: OpenFolder, ledger: Ledger) -> None:
    """Copies old entries to the ledger, some at each call, and removes them a day after their last change."""
    with suppress(FileNotFoundError), hot.folder(WORK) as work:
        with work.folder(OLD_LEDGER) as old:
            names = new_names(old)
            for name in names[:CARRIED_AT_ONCE]:
                _carry_entry(old, name, ledger)
            settle_names(old, names[:CARRIED_AT_ONCE])
            is_empty = bool(names) and not old.names()
        for name in (OLD_LEDGER, OLD_WAITING) if is_empty else ():
            work.remove(name)


def _carry_entry(old: OpenFolder, name: str, ledger: Ledger) -> None:
    status, number = old.status(name), name.removesuffix(".json")
    if status is None or not NUMBER.fullmatch(number):
        return
    # An entry that cannot be read is reported when its job is sent.
    with suppress(ValueError, FileNotFoundError):
        ledger.create(number, _read_entry(old, number))
        if status.st_mtime < time.time() - KEPT_SECONDS:
            old.remove(name)


def _read_entry(old: OpenFolder, number: str) -> LedgerEntry:
    name = f"{number}.json"
    try:
        return _parse_entry(json.loads(old.read(name, limit=MAX_ENTRY_BYTES)))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"The ledger entry of job {number} is damaged or was changed: {old.path / name}. "
            "See whether the press has the job, and remove the file to send it again."
        ) from error


def _parse_entry(record: Mapping[str, Any]) -> LedgerEntry:
    state, work, names, marks = record["state"], record["work"], record["names"], record["marks"]
    if state not in (PREPARED, DONE, CANCELLED) or not (isinstance(names, list) and isinstance(marks, list)):
        raise ValueError
    if not all(_is_single(name) for name in names) or not all(MARK.fullmatch(mark) for mark in marks):
        raise ValueError
    if state != CANCELLED and not (names and WORK_NAME.fullmatch(work)):
        raise ValueError
    digests = {
        name: value
        for name, value in record["digests"].items()
        if name.isprintable() and DIGEST.fullmatch(value)
    }
    return LedgerEntry(state, work if state != CANCELLED else "", tuple(names), digests, tuple(marks))


def _is_single(name: str) -> bool:
    """A path in a name would lead out of the hot folder."""
    return (
        name.isprintable()
        and PurePath(name).name == name
        and name not in {"", ".", ".."}
        and len(name) <= 255
    )
