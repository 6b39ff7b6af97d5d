"""A hot folder, where print file and tickets appear atomically, and a return folder for reports.

Exactly once, even after kill -9: all files of a job are written and synced in a work folder, then an entry with the
job's number is added to the ledger, and only then the files are renamed into the hot folder. A retry reads the ledger:
files still in the work folder were not handed over, missing ones were. So it stays until the ledger says that.
The work folder lies in the hot folder, because only files of one file system are renamed; the ledger does not, because
the press may write there.
"""

import errno
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from production.adapters.file_names import DropFile, build_files
from production.adapters.folder_ledger import OLD_LEDGER, WORK, WORK_NAME, carry_over, find_entry
from production.adapters.folder_returns import ReturnFolder
from production.adapters.folder_settings import FolderSettings
from production.adapters.open_folder import OpenFolder, forget_names, open_press_folder
from production.adapters.registry import register
from production.interface import (
    CANCELLED,
    DONE,
    POLL_SECONDS,
    PREPARED,
    TAKEN,
    AdapterJob,
    Exchange,
    Ledger,
    LedgerEntry,
    ProviderRefused,
    ProviderUnavailable,
    Report,
    SendingProgress,
    Submitted,
)
from production.tickets import read_report_file

MAX_NAME_LENGTH = 120
DAY_SECONDS = 86_400
# When leftovers of a folder were removed last, for this process.
_CLEANED: dict[Path, float] = {}


@register(
    "folder",
    label="Hot folder",
    purpose="Files are placed in a local or mounted folder that the press or its front end watches.",
    settings=FolderSettings,
)
class FolderAdapter:
    def __init__(self, settings: Mapping[str, Any], secrets: Mapping[str, str], ledger: Ledger) -> None:
        self._settings, self._ledger = settings, ledger
        self._folder = Path(settings["folder"])
        self._back = Path(settings["return_folder"]) if settings.get("return_folder") else None

    def check_connection(self) -> str:
        """Writes, renames and removes a file, as for a job."""
        with _disk_errors(), self._open_folders() as (hot, back), hot.folder(WORK, create=True) as work:
            probe = f"probe-{uuid4().hex}"
            work.write(probe, b"probe")
            work.move(probe, hot, f".{probe}")
            hot.remove(f".{probe}")
            file_system = os.fstatvfs(hot.descriptor)
            if back and not os.access(".", os.R_OK | os.W_OK | os.X_OK, dir_fd=back.descriptor):
                raise PermissionError(errno.EACCES, "Permission denied", str(self._back))
            waiting_count = sum(1 for name in hot.names() if not name.startswith("."))
        free_gigabytes = file_system.f_bavail * file_system.f_frsize // 10**9
        return f"Files can be written to {self._folder}: {waiting_count} waiting there, {free_gigabytes} GB free."

    def preview(self, job: AdapterJob) -> Mapping[str, Any]:
        files = self._build_files(job)
        contents: dict[str, Any] = {"Full path": str(self._folder / self._list_names(job, files)[0])}
        for file in files:
            is_text = not file.name.endswith(".pdf")
            contents[file.name] = file.content.decode() if is_text else f"{len(file.content):,} bytes"
        return contents

    def submit(self, job: AdapterJob) -> Submitted:
        with _disk_errors() as progress, self._open_folders() as (hot, _):
            entry = find_entry(hot, self._ledger, job.number) or self._prepare_files(hot, job)
            if entry.state == CANCELLED:
                raise ProviderRefused(f"Job {job.number} was cancelled in this folder before.")
            # From here on the hot folder may contain a part of the job.
            progress.is_unsent = False
            if entry.state != DONE:
                try:
                    self._move(hot, entry)
                except OSError:
                    progress.is_unsent = _is_whole(hot, entry)
                    raise
                entry = replace(entry, state=DONE)
                self._ledger.write(job.number, entry)
                with hot.folder(WORK, create=True) as work:
                    work.remove(entry.work)
        request = "\n".join(str(self._folder / name) for name in entry.names)
        exchange = Exchange(request, "Renamed into the hot folder.", entry.digests)
        return Submitted(entry.names[0], exchange)

    def cancel(self, job: AdapterJob, reference: str) -> Exchange:
        """Cancels the job unless the press has taken its files."""
        with _disk_errors(), self._open_folders() as (hot, _):
            entry = find_entry(hot, self._ledger, job.number)
            if entry is None:
                # Nothing was written yet; the entry keeps a late retry from writing.
                self._ledger.write(job.number, LedgerEntry(CANCELLED, "", (), {}))
                return Exchange(f"Cancel {job.number}", "The folder never had it.")
            if entry.state == CANCELLED:
                return Exchange(f"Cancel {job.number}", "It was cancelled before.")
            if _was_taken(hot, entry):
                raise ProviderRefused(
                    f"The press has taken job {job.number} out of the folder; stop it at the press.",
                    Exchange(f"Cancel {job.number}", "The files have left the hot folder."),
                )
            with hot.folder(WORK, create=True) as work:
                aside = f"cancelled-{uuid4().hex}"
                with work.folder(aside, create=True) as removed:
                    for name in entry.names:
                        hot.move(name, removed)
                self._ledger.write(job.number, replace(entry, state=CANCELLED))
                work.remove(aside)
                work.remove(entry.work)
        return Exchange(f"Cancel {job.number}", "Removed from the hot folder.")

    def poll(self) -> Sequence[Report]:
        """Reports in the return folder, jobs moved into its state folders, and jobs taken out of the hot folder."""
        until = time.monotonic() + POLL_SECONDS
        with _disk_errors(), self._open_folders() as (hot, back):
            carry_over(hot, self._ledger)
            self._remove_leftovers(hot)
            returned_reports = ReturnFolder(back, self._ledger).reports(until=until) if back else ()
            return [*self._taken_reports(hot), *returned_reports]

    def confirm(self, reports: Sequence[Report]) -> None:
        """Moves report files to `processed`; notes files in state folders, which stay there."""
        with _disk_errors(), self._open_folders() as (_, back):
            for source in dict.fromkeys(report.raw.partition("\n")[0] for report in reports):
                if source.startswith("file:") and back:
                    ReturnFolder(back, self._ledger).move_processed(source.removeprefix("file:"))
                elif source.startswith("job:"):
                    _, number, mark = source.split(":", 2)
                    self._ledger.add_mark(number, mark)

    def parse_report(self, body: bytes, headers: Mapping[str, str]) -> Sequence[Report]:
        """The same forms as files of the return folder, by the content type."""
        kind = headers.get("Content-Type", "").partition(";")[0].strip().lower()
        suffix = {"text/csv": ".csv", "application/xml": ".xjmf", "text/xml": ".xjmf"}.get(kind, ".json")
        return read_report_file(f"report{suffix}", body)

    @contextmanager
    def _open_folders(self) -> Iterator[tuple[OpenFolder, OpenFolder | None]]:
        """The hot folder and the return folder."""
        with open_press_folder(self._folder) as hot, ExitStack() as stack:
            # Without its mount there is an empty folder: each job would seem taken, and new ones would be lost in it.
            if hot.status(WORK) is None and self._ledger.has_done():
                path = hot.path / WORK
                raise ProviderUnavailable(
                    f"{path}, which earlier jobs left, is not there; is the folder mounted?", is_unsent=True
                )
            yield hot, stack.enter_context(open_press_folder(self._back)) if self._back else None

    def _name_folder(self, job: AdapterJob) -> str:
        values = {
            "number": job.number,
            "order": job.order_number,
            "item": job.item.key,
            "product": job.item.product_id,
            "sku": job.item.sku,
            "store": job.store_id,
            "quantity": str(job.item.quantity),
        }
        text = re.sub(r"\{(\w+)\}", lambda match: values[match[1]], self._settings["name_pattern"])
        safe = re.sub(r"[^A-Za-z0-9._-]+", "-", text).lstrip(".-")
        return safe if len(safe) <= MAX_NAME_LENGTH and job.number in safe else f"{safe[:80]}-{job.number}"

    def _build_files(self, job: AdapterJob) -> list[DropFile]:
        files = build_files(job, self._name_folder(job), separator="-", tickets=self._settings["tickets"])
        if not files:
            raise ProviderRefused(f"Job {job.number} has no print file, and this folder takes no tickets.")
        return files

    def _list_names(self, job: AdapterJob, files: Sequence[DropFile]) -> tuple[str, ...]:
        """Returns the names that appear in the hot folder."""
        if self._settings["layout"] == "folders":
            return (self._name_folder(job),)
        return tuple(file.name for file in files)

    def _prepare_files(self, hot: OpenFolder, job: AdapterJob) -> LedgerEntry:
        files = self._build_files(job)
        draft = f"new-{uuid4().hex}"
        folder = self._name_folder(job) if self._settings["layout"] == "folders" else ""
        digests = {file.name: file.sha256 for file in job.files}
        with hot.folder(WORK, create=True) as work:
            try:
                with work.folder(draft, create=True) as folder_of_draft:
                    _write_files(folder_of_draft, folder, files)
                prepared = LedgerEntry(PREPARED, draft, self._list_names(job, files), digests)
                entry = self._ledger.create(job.number, prepared)
            except BaseException:
                work.remove(draft)
                raise
            if entry.work != draft:
                # Another worker created it first.
                work.remove(draft)
        return entry

    def _move(self, hot: OpenFolder, entry: LedgerEntry) -> None:
        try:
            with hot.folder(WORK) as work, work.folder(entry.work) as draft:
                for name in entry.names:
                    # What is missing in the work folder was already renamed.
                    draft.move(name, hot)
        except FileNotFoundError as error:
            raise ValueError(
                f"The files of the job are no longer in {hot.path / WORK}: it was emptied, or the hot folder is "
                "another one now. See whether the press has the job before you send it again."
            ) from error
        hot.sync()

    def _taken_reports(self, hot: OpenFolder) -> Iterator[Report]:
        state = self._settings["taken"]
        if state == "none":
            return
        # Read before the names: a job that arrives in between would count as taken.
        waiting = self._ledger.waiting()
        present_names = set(hot.names())
        for number, entry in waiting:
            if present_names.isdisjoint(entry.names):
                text = f"job:{number}:{TAKEN}\nThe files have left the hot folder."
                yield Report(f"taken:{number}", number, state, None, raw=text)

    def _remove_leftovers(self, hot: OpenFolder) -> None:
        """Removes files of workers that were killed before writing their ledger entry, once a day."""
        if time.monotonic() - _CLEANED.get(self._folder, -DAY_SECONDS) < DAY_SECONDS:
            return
        with suppress(FileNotFoundError), hot.folder(WORK) as work:
            drafts = self._ledger.drafts()
            for name in work.names():
                status = work.status(name) if WORK_NAME.fullmatch(name) and name not in drafts else None
                if status and status.st_mtime < time.time() - DAY_SECONDS:
                    work.remove(name)
            forget_names(work.path / OLD_LEDGER)
        _CLEANED[self._folder] = time.monotonic()


def _write_files(target: OpenFolder, folder: str, files: Sequence[DropFile]) -> None:
    """Into a folder of this place, if it has a name."""
    if folder:
        with target.folder(folder, create=True) as inner:
            _write_files(inner, "", files)
    else:
        for file in files:
            target.write(file.name, file.content)
    target.sync()


def _was_taken(hot: OpenFolder, entry: LedgerEntry) -> bool:
    """Whether the press took a file out of the hot folder, or may have."""
    missing = [name for name in entry.names if not hot.status(name)]
    if entry.state == PREPARED and missing:
        with suppress(FileNotFoundError), hot.folder(WORK) as work, work.folder(entry.work) as draft:
            return not all(draft.status(name) for name in missing)
    return bool(missing)


def _is_whole(hot: OpenFolder, entry: LedgerEntry) -> bool:
    """Whether no file can have reached the hot folder."""
    with suppress(FileNotFoundError), hot.folder(WORK) as work, work.folder(entry.work) as draft:
        return all(draft.status(name) for name in entry.names)
    return False


@contextmanager
def _disk_errors() -> Iterator[SendingProgress]:
    """Translates disk errors to ProviderUnavailable, so that the job is retried."""
    progress = SendingProgress()
    try:
        yield progress
    except OSError as error:
        reason = "the disk is full" if error.errno == errno.ENOSPC else (error.strerror or str(error)).lower()
        path = f" ({error.filename})" if error.filename else ""
        raise ProviderUnavailable(
            f"The folder could not be used: {reason}{path}.", is_unsent=progress.is_unsent
        ) from error
