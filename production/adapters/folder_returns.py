"""The return folder of a press: reads reports, and moves their files once they are stored."""

import random
import re
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePath

from production.adapters.file_names import name_with_room
from production.adapters.open_folder import OpenFolder, new_names, settle_names
from production.interface import Ledger, Report
from production.tickets import REPORT_SUFFIXES, read_report_file
from production.tickets.reports import MAX_REPORTS

# The most files examined, and read, in one poll, so that little is read again after a crash.
MAX_FILES_AT_ONCE, READ_AT_ONCE = 500, 50
# The most names of state folders looked up in one poll, so that it takes 50 ms.
MAX_NAMES_AT_ONCE = 8_000
MAX_REPORT_BYTES = 2 * 1024 * 1024
# The age below which a returned file may still be written; it is read at the next poll.
SETTLED_SECONDS = 2.0
SHEET = re.compile(r"-sheet-\d+-run-\d+\.pdf$")
STATE_FOLDERS = {
    "acknowledged": "Acknowledged",
    "in-production": "InProduction",
    "shipped": "Shipped",
    "failed": "Failed",
    "cancelled": "Cancelled",
}


class ReturnFolder:
    """The folder where the press puts reports; jobs moved to a folder such as `shipped` are reports as well."""

    def __init__(self, folder: OpenFolder, ledger: Ledger) -> None:
        self._folder, self._ledger = folder, ledger

    def reports(self, *, until: float) -> Iterator[Report]:
        """New reports, none after `until`. Unreadable files go to `unreadable`, each with the reason beside it."""
        yield from self._in_state_folders(until)
        settled_before = time.time() - SETTLED_SECONDS
        names = [
            name
            for name in self._folder.names()
            if not name.startswith(".") and PurePath(name).suffix.lower() in REPORT_SUFFIXES
        ]
        # By chance, so that names that stay there hold up no others.
        file_count = report_count = 0
        sample = random.sample(names, min(len(names), MAX_FILES_AT_ONCE))
        for name in sorted(sample):
            if file_count >= READ_AT_ONCE or report_count >= MAX_REPORTS or time.monotonic() > until:
                return
            status = self._folder.status(name)
            if status is None or status.st_mtime > settled_before:
                continue
            if stat.S_ISDIR(status.st_mode):
                continue
            try:
                reports = self._read_reports(name)
            except FileNotFoundError:
                continue
            except ValueError as error:
                self._archive_file(name, "unreadable", reason=str(error))
                continue
            if not reports:
                self.move_processed(name)
            file_count, report_count = file_count + 1, report_count + len(reports)
            for report in reports:
                yield replace(report, raw=f"file:{name}\n{report.raw}")

    def _in_state_folders(self, until: float) -> Iterator[Report]:
        """Reports from state folders: a job whose file is moved to `shipped` counts as shipped."""
        for name, state in STATE_FOLDERS.items():
            if time.monotonic() > until:
                return
            with suppress(FileNotFoundError), self._folder.folder(name) as folder:
                yield from self._moved_to(folder, name, state)

    def _moved_to(self, folder: OpenFolder, name: str, state: str) -> Iterator[Report]:
        names = new_names(folder)[:MAX_NAMES_AT_ONCE]
        # A name whose report is not stored yet stays new.
        pending = self._ledger.find_named(
            [file_name for file_name in names if file_name.isprintable()], mark=state
        )
        settle_names(folder, [file_name for file_name in names if file_name not in pending])
        for number in sorted(set(pending.values())):
            moved_names = [file_name for file_name, owner in pending.items() if owner == number]
            if state == "Shipped" and not self._is_complete(folder, number, moved_names):
                continue
            text = f"job:{number}:{state}\nMoved to {name}."
            yield Report(f"moved:{number}:{state}", number, state, datetime.now(UTC), raw=text)

    def _is_complete(self, folder: OpenFolder, number: str, moved: Sequence[str]) -> bool:
        """A gang sheet of several files is shipped with the last one of them, or with its ticket."""
        if not all(SHEET.search(name) for name in moved):
            return True
        entry = self._ledger.read(number)
        return entry is None or all(folder.status(name) for name in entry.names if SHEET.search(name))

    def move_processed(self, name: str) -> None:
        self._archive_file(name, "processed")

    def _archive_file(self, name: str, kind: str, *, reason: str = "") -> None:
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
        short_name = name_with_room(name)
        with self._folder.folder(kind, create=True) as archive:
            self._folder.move(name, archive, f"{stamp}-{short_name}")
            if reason:
                printable_name = short_name if short_name.isprintable() else "report"
                archive.write(f"{stamp}-{printable_name}.why.txt", f"{reason}\n".encode("utf-8", "replace"))

    def _read_reports(self, name: str) -> list[Report]:
        """Raises ValueError."""
        if not name.isprintable():
            raise ValueError("The name of the file has control characters, or is not UTF-8.")
        return list(read_report_file(name, self._folder.read(name, limit=MAX_REPORT_BYTES)))
