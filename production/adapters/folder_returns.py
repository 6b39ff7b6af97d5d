"""The return folder of a press: reads reports, and moves their files once they are stored."""

import errno
import os
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from production.adapters.folder_ledger import Ledger
from production.interface import ProviderRefused, Report
from production.tickets import REPORT_SUFFIXES, read_report_file

# The most files examined, and read, in one poll, so that little is read again after a crash.
MAX_FILES_AT_ONCE, READ_AT_ONCE = 500, 50
LARGEST_REPORT = 2 * 1024 * 1024
# The age below which a returned file may still be written; it is read at the next poll.
SETTLED_SECONDS = 2.0
STATE_FOLDERS = {
    "acknowledged": "Acknowledged",
    "in-production": "InProduction",
    "shipped": "Shipped",
    "failed": "Failed",
    "cancelled": "Cancelled",
}


class ReturnFolder:
    """Where the press puts reports; jobs moved to a folder such as `shipped` are reports as well."""

    def __init__(self, folder: Path, ledger: Ledger) -> None:
        self._folder, self._ledger = folder, ledger

    def reports(self) -> Iterator[Report]:
        """New reports. Unreadable files go to `unreadable`, each with the reason in a file beside it."""
        yield from self._in_state_folders()
        settled = time.time() - SETTLED_SECONDS
        files = sorted(one for one in self._folder.iterdir() if one.suffix.lower() in REPORT_SUFFIXES)
        read = 0
        for path in files[:MAX_FILES_AT_ONCE]:
            if read >= READ_AT_ONCE:
                return
            if path.name.startswith(".") or path.lstat().st_mtime > settled or path.is_dir():
                continue
            try:
                found = _read_report(path)
            except FileNotFoundError:
                continue
            except ValueError as error:
                _archive(path, "unreadable", why=str(error))
                continue
            if not found:
                _archive(path, "processed")
            read += 1
            for report in found:
                yield replace(report, raw=f"file:{path.name}\n{report.raw}")

    def _in_state_folders(self) -> Iterator[Report]:
        """Reports from state folders: a job whose file is moved to `shipped` counts as shipped."""
        for name, state in STATE_FOLDERS.items():
            folder = self._folder / name
            if not folder.is_dir():
                continue
            for moved in sorted({path.name if path.is_dir() else path.stem for path in folder.iterdir()}):
                found = self._ledger.find_named(moved)
                if found is not None and state not in found[1].marks:
                    number = found[0]
                    text = f"job:{number}:{state}\nMoved to {name}."
                    yield Report(f"moved:{number}:{state}", number, state, datetime.now(UTC), raw=text)

    def move_processed(self, name: str) -> None:
        _archive(self._folder / name, "processed")


def _archive(path: Path, kind: str, *, why: str = "") -> None:
    place = path.parent / kind
    if place.is_symlink():
        raise ProviderRefused(f"{place} is a symbolic link; make it a folder.")
    place.mkdir(exist_ok=True)
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    with suppress(FileNotFoundError):
        path.rename(place / f"{stamp}-{path.name}")
    if why:
        name = path.name if path.name.isprintable() else "report"
        with (place / f"{stamp}-{name}.why.txt").open("x", encoding="utf-8") as file:
            file.write(f"{why}\n")


def _read_report(path: Path) -> Sequence[Report]:
    """Raises ValueError. Follows no link, which could name any file of this machine, and does not wait for a pipe."""
    if not path.name.isprintable():
        raise ValueError("The name of the file has control characters, or is not UTF-8.")
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ValueError(f"{path.name}: symbolic links are not read.") from error
        raise
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError(f"{path.name}: this is not a regular file.")
        content = file.read(LARGEST_REPORT + 1)
    if len(content) > LARGEST_REPORT:
        raise ValueError(f"{path.name}: larger than {LARGEST_REPORT:,} bytes.")
    return read_report_file(path.name, content)
