"""The ledger of a hot folder: one small file for each job number, replaced atomically."""

import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path, PurePath
from typing import Any
from uuid import uuid4

PREPARED, DONE, CANCELLED = "prepared", "done", "cancelled"
# Longer than jobs are retried or reported on.
RETENTION_SECONDS = 180 * 86_400
TAKEN = "taken"
SEPARATORS = re.compile(r"[^0-9A-Za-z]+")
WORK_NAME = re.compile(r"new-[0-9a-f]{32}")
LARGEST_ENTRY = 64 * 1024


@dataclass(frozen=True, slots=True)
class Entry:
    """`names` lie in the work folder `work` until they are in the hot folder; `marks` are reports confirmed."""

    state: str
    work: str
    names: tuple[str, ...]
    digests: Mapping[str, str]
    marks: tuple[str, ...] = field(default=())

    def has_moved(self, folder: Path) -> bool:
        """Whether any file may have reached the hot folder."""
        if self.state == DONE:
            return True
        work = folder / ".fulfillment" / self.work
        return not all((work / name).exists() for name in self.names)


def _entry(found: Mapping[str, Any]) -> Entry:
    """Names are single names: a path in one would lead out of the hot folder."""
    entry = Entry(
        found["state"], found["work"], tuple(found["names"]), dict(found["digests"]), tuple(found["marks"])
    )
    if entry.state not in {PREPARED, DONE, CANCELLED} or isinstance(found["names"], str):
        raise ValueError
    if not all(isinstance(name, str) and _is_single(name) for name in entry.names):
        raise ValueError
    if entry.state != CANCELLED and not (entry.names and WORK_NAME.fullmatch(entry.work)):
        raise ValueError
    return entry


def _is_single(name: str) -> bool:
    return bool(name) and name not in {".", ".."} and PurePath(name).name == name and "\0" not in name


class Ledger:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, number: str) -> Entry | None:
        """Raises ValueError for an entry that is not as it was written: the press can write to this folder too."""
        try:
            with self._path(number).open("rb") as file:
                content = file.read(LARGEST_ENTRY + 1)
        except FileNotFoundError:
            return None
        try:
            return _entry(json.loads(content))
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            raise ValueError(
                f"The ledger entry of job {number} is damaged or was changed: {self._path(number)}. "
                "See whether the press has the job, and remove the file to send it again."
            ) from error

    def create(self, number: str, entry: Entry) -> Entry:
        """Creates the entry, or returns the existing one."""
        draft = self._draft(entry)
        try:
            os.link(draft, self._path(number))
        except FileExistsError:
            return self.read(number) or entry
        finally:
            draft.unlink()
        sync_folder(self._folder)
        return entry

    def write(self, number: str, entry: Entry) -> None:
        self._draft(entry).replace(self._path(number))
        sync_folder(self._folder)

    def add_mark(self, number: str, mark: str) -> None:
        entry = self.read(number)
        if entry is not None and mark not in entry.marks:
            self.write(number, replace(entry, marks=(*entry.marks, mark)))

    def watch(self, number: str, *, is_waiting: bool) -> None:
        """Updates the list of jobs in the hot folder, because the ledger itself grows without limit."""
        marker = self._waiting / number
        if is_waiting:
            self._waiting.mkdir(exist_ok=True)
            marker.touch()
        else:
            marker.unlink(missing_ok=True)

    def waiting(self) -> Iterator[tuple[str, Entry]]:
        for marker in self._waiting.iterdir() if self._waiting.is_dir() else ():
            entry = self.read(marker.name)
            if entry is None or entry.state == CANCELLED or TAKEN in entry.marks:
                marker.unlink(missing_ok=True)
            else:
                yield marker.name, entry

    def find_named(self, name: str) -> tuple[str, Entry] | None:
        """The job number contained in a file name, if the ledger knows it."""
        parts = SEPARATORS.split(name)
        # A gang sheet's number is one word, a job's two, of one that was started again three.
        for start, length in product(range(len(parts)), (3, 2, 1)):
            number = "-".join(parts[start : start + length])
            entry = self.read(number)
            if entry is not None and name in {
                PurePath(one).stem if "." in one else one for one in entry.names
            }:
                return number, entry
        return None

    def is_day_over(self) -> bool:
        """True once in a day."""
        stamp = self._folder / ".cleaned"
        with suppress(FileNotFoundError):
            if stamp.stat().st_mtime > time.time() - 86_400:
                return False
        if self._folder.is_dir():
            stamp.touch()
        return True

    def remove_old_entries(self) -> set[str]:
        """Also returns the work folders that prepared jobs still need."""
        before, needed = time.time() - RETENTION_SECONDS, set()
        for path in self._folder.glob("*.json"):
            entry = self.read(path.stem)
            if entry is not None and path.stat().st_mtime < before:
                path.unlink()
            elif entry is not None and entry.state == PREPARED:
                needed.add(entry.work)
        return needed

    @property
    def _waiting(self) -> Path:
        return self._folder.parent / "waiting"

    def _path(self, number: str) -> Path:
        return self._folder / f"{number}.json"

    def _draft(self, entry: Entry) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        draft = self._folder / f".draft-{uuid4().hex}"
        write_synced(draft, json.dumps(asdict(entry)).encode())
        return draft


def write_synced(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
