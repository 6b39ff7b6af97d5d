"""A hot folder, where print file and tickets appear atomically, and a return folder for reports.

Exactly once, even after kill -9: all files of a job are written and synced in a work folder, then a ledger entry with
the job's number is linked, and only then the files are renamed into the hot folder. A retry reads the ledger: files
still in the work folder were not handed over, missing ones were.
"""

import errno
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from production.adapters.file_names import file_names, renamed_members
from production.adapters.folder_ledger import CANCELLED, DONE, TAKEN, Entry, Ledger, sync_folder, write_synced
from production.adapters.folder_returns import ReturnFolder
from production.adapters.folder_settings import FolderSettings
from production.adapters.registry import register
from production.interface import (
    Exchange,
    Job,
    ProviderRefused,
    ProviderUnavailable,
    Report,
    Submitted,
)
from production.tickets import read_report_file, write_json_ticket, write_xjdf

WORK = ".fulfillment"
LONGEST_NAME = 120


@register(
    "folder",
    label="Hot folder",
    purpose="Files are placed in a local or mounted folder that the press or its front end watches.",
    settings=FolderSettings,
)
class FolderAdapter:
    def __init__(self, settings: Mapping[str, Any], secrets: Mapping[str, str]) -> None:
        self._settings = settings
        self._folder = Path(settings["folder"])
        self._back = Path(settings["return_folder"]) if settings.get("return_folder") else None
        self._work = self._folder / WORK
        self._ledger = Ledger(self._work / "jobs")
        self._returns = ReturnFolder(self._back, self._ledger) if self._back else None

    def check_connection(self) -> str:
        """Writes, renames and removes a file, as for a job."""
        self._require_folders()
        with _disk_errors():
            self._work.mkdir(exist_ok=True)
            probe = self._work / f"probe-{uuid4().hex}"
            write_synced(probe, b"probe")
            renamed = self._folder / f".{probe.name}"
            probe.rename(renamed)
            renamed.unlink()
            free = shutil.disk_usage(self._folder).free
            if self._back is not None and not os.access(self._back, os.R_OK | os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, "Permission denied", str(self._back))
        waiting = sum(1 for one in self._folder.iterdir() if not one.name.startswith("."))
        return f"Files can be written to {self._folder}: {waiting} waiting there, {free // 10**9} GB free."

    def preview(self, job: Job) -> Mapping[str, Any]:
        files = self._files(job)
        shown: dict[str, Any] = {"Place": str(self._places(job, [name for name, _ in files])[0])}
        for name, content in files:
            is_text = not name.endswith(".pdf")
            shown[name] = content.decode() if is_text else f"{len(content):,} bytes"
        return shown

    def submit(self, job: Job) -> Submitted:
        self._require_folders()
        with _disk_errors() as outcome:
            entry = self._ledger.read(job.number)
            if entry is None:
                entry = self._prepare(job)
            if entry.state == CANCELLED:
                raise ProviderRefused(f"Job {job.number} was cancelled in this folder before.")
            # From here on the hot folder may contain a part of the job.
            outcome.is_unsent = not entry.has_moved(self._folder)
            if entry.state != DONE:
                self._move(entry)
                self._ledger.write(job.number, replace(entry, state=DONE))
            self._ledger.watch(job.number, is_waiting=TAKEN not in entry.marks)
        request = "\n".join(str(self._folder / name) for name in entry.names)
        exchange = Exchange(request, "Renamed into the hot folder.", entry.digests)
        return Submitted(entry.names[0], exchange)

    def cancel(self, job: Job, reference: str) -> Exchange:
        """Cancels the job unless the press has taken its files."""
        self._require_folders()
        with _disk_errors():
            entry = self._ledger.read(job.number)
            if entry is None:
                # Nothing was written yet; the entry keeps a late retry from writing.
                self._ledger.write(job.number, Entry(CANCELLED, "", (), {}))
                return Exchange(f"Cancel {job.number}", "The folder never had it.")
            if entry.state == CANCELLED:
                return Exchange(f"Cancel {job.number}", "It was cancelled before.")
            if entry.state == DONE and not all((self._folder / name).exists() for name in entry.names):
                raise ProviderRefused(
                    f"The press has taken job {job.number} out of the folder; stop it at the press.",
                    Exchange(f"Cancel {job.number}", "The files have left the hot folder."),
                )
            aside = self._work / f"cancelled-{uuid4().hex}"
            aside.mkdir(parents=True)
            for name in entry.names:
                with suppress(FileNotFoundError):
                    (self._folder / name).rename(aside / name)
            self._ledger.write(job.number, replace(entry, state=CANCELLED))
            shutil.rmtree(aside, ignore_errors=True)
            shutil.rmtree(self._work / entry.work, ignore_errors=True)
        return Exchange(f"Cancel {job.number}", "Removed from the hot folder.")

    def poll(self) -> Sequence[Report]:
        """Reports in the return folder, jobs moved into its state folders, and jobs taken out of the hot folder."""
        self._require_folders()
        with _disk_errors():
            self._remove_leftovers()
            return [*self._taken(), *(self._returns.reports() if self._returns else ())]

    def confirm(self, reports: Sequence[Report]) -> None:
        """Moves report files to `processed`; notes files in state folders, which stay there."""
        with _disk_errors():
            for source in dict.fromkeys(report.raw.partition("\n")[0] for report in reports):
                if source.startswith("file:") and self._returns:
                    self._returns.move_processed(source.removeprefix("file:"))
                elif source.startswith("job:"):
                    _, number, mark = source.split(":", 2)
                    self._ledger.add_mark(number, mark)
                    if mark == TAKEN:
                        self._ledger.watch(number, is_waiting=False)

    def parse_report(self, body: bytes, headers: Mapping[str, str]) -> Sequence[Report]:
        """The same forms as files of the return folder, by the content type."""
        kind = headers.get("Content-Type", "").partition(";")[0].strip().lower()
        suffix = {"text/csv": ".csv", "application/xml": ".xjmf", "text/xml": ".xjmf"}.get(kind, ".json")
        return read_report_file(f"report{suffix}", body)

    def _require_folders(self) -> None:
        for folder in filter(None, (self._folder, self._back)):
            if not folder.is_dir():
                raise ProviderUnavailable(f"{folder} is not there; is it mounted?", is_unsent=True)

    def _name(self, job: Job) -> str:
        values = {
            "number": job.number,
            "order": job.order_number,
            "item": job.item.key,
            "product": job.item.product_id,
            "sku": job.item.sku,
            "store": job.store_id,
            "quantity": str(job.item.quantity),
        }
        text = re.sub(r"\{(\w+)\}", lambda found: values[found[1]], self._settings["name_pattern"])
        safe = re.sub(r"[^A-Za-z0-9._-]+", "-", text).lstrip(".-")
        return safe if len(safe) <= LONGEST_NAME and job.number in safe else f"{safe[:80]}-{job.number}"

    def _files(self, job: Job) -> list[tuple[str, bytes]]:
        """The files, print files first, so that a ticket never names a missing file."""
        name = self._name(job)
        names = file_names(job, name, separator="-")
        prints = [replace(file, name=names[file.name]) for file in job.files]
        sent: Job = replace(job, files=prints, members=renamed_members(job, names))
        files = [(file.name, file.content) for file in prints]
        chosen = self._settings["tickets"]
        if chosen in ("both", "json"):
            files.append((f"{name}.json", write_json_ticket(sent)))
        if chosen in ("both", "xjdf"):
            files.append((f"{name}.xjdf", write_xjdf(sent)))
        if not files:
            raise ProviderRefused(f"Job {job.number} has no print file, and this folder takes no tickets.")
        return files

    def _places(self, job: Job, names: Sequence[str]) -> list[Path]:
        if self._settings["layout"] == "folders":
            return [self._folder / self._name(job)]
        return [self._folder / name for name in names]

    def _prepare(self, job: Job) -> Entry:
        files = self._files(job)
        work = self._work / f"new-{uuid4().hex}"
        target = work if self._settings["layout"] == "flat" else work / self._name(job)
        try:
            target.mkdir(parents=True)
            for name, content in files:
                write_synced(target / name, content)
            sync_folder(target)
            names = tuple(place.name for place in self._places(job, [name for name, _ in files]))
            digests = {file.name: file.sha256 for file in job.files}
            entry = self._ledger.create(job.number, Entry("prepared", work.name, names, digests))
        except BaseException:
            shutil.rmtree(work, ignore_errors=True)
            raise
        if entry.work != work.name:
            # Another worker created it first.
            shutil.rmtree(work, ignore_errors=True)
        return entry

    def _move(self, entry: Entry) -> None:
        for place in (self._work, self._work / entry.work):
            if place.is_symlink():
                raise ValueError(f"{place} is a symbolic link: nothing is moved through it.")
        for name in entry.names:
            # Missing in the work folder: it was already renamed.
            with suppress(FileNotFoundError):
                (self._work / entry.work / name).rename(self._folder / name)
        sync_folder(self._folder)
        shutil.rmtree(self._work / entry.work, ignore_errors=True)

    def _taken(self) -> Iterator[Report]:
        state = self._settings["taken"]
        if state == "none":
            return
        for number, entry in self._ledger.waiting():
            if not any((self._folder / name).exists() for name in entry.names):
                text = f"job:{number}:{TAKEN}\nThe files have left the hot folder."
                yield Report(f"taken:{number}", number, state, datetime.now(UTC), raw=text)

    def _remove_leftovers(self) -> None:
        """Removes files of workers that were killed before writing their ledger entry."""
        if not (self._work.is_dir() and self._ledger.is_day_over()):
            return
        known = self._ledger.remove_old_entries()
        before = time.time() - 86_400
        for path in self._work.glob("new-*"):
            if path.name not in known and path.stat().st_mtime < before:
                shutil.rmtree(path, ignore_errors=True)


class _Outcome:
    """Whether a failed exchange certainly sent nothing."""

    is_unsent = True


@contextmanager
def _disk_errors() -> Iterator[_Outcome]:
    """Translates disk errors to ProviderUnavailable, so that the job is retried."""
    outcome = _Outcome()
    try:
        yield outcome
    except OSError as error:
        reason = "the disk is full" if error.errno == errno.ENOSPC else (error.strerror or str(error)).lower()
        place = f" ({error.filename})" if error.filename else ""
        raise ProviderUnavailable(
            f"The folder could not be used: {reason}{place}.", is_unsent=outcome.is_unsent
        ) from error
