"""A hot folder, where print file and tickets appear atomically, and a return folder for reports.

Exactly once, even after kill -9: all files of a job are written and synced in a work folder, then a ledger entry with
the job's number is linked, and only then the files are renamed into the hot folder. A retry reads the ledger: files
still in the work folder were not handed over, missing ones were.
"""

import errno
import os
import re
import shutil
import stat
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
from production.adapters.interface import (
    Exchange,
    Job,
    ProviderRefused,
    ProviderUnavailable,
    Report,
    Submitted,
)
from production.adapters.settings_schema import SettingField
from production.gang_sheets.settings import GANG_SETTINGS
from production.tickets import REPORT_SUFFIXES, read_report_file, write_json_ticket, write_xjdf

WORK = ".fulfillment"
PLACEHOLDERS = ("number", "order", "item", "product", "sku", "store", "quantity")
LONGEST_NAME = 120
MAX_FILES_AT_ONCE = 500
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


def _absolute(value: str) -> str | None:
    if value and not (value.startswith("/") and ".." not in Path(value).parts):
        return "Write the whole path, such as /srv/press/in."
    return None


def _pattern(value: str) -> str | None:
    used = re.findall(r"\{([^{}]*)\}", value)
    if unknown := [name for name in used if name not in PLACEHOLDERS]:
        return f"{{{unknown[0]}}} is unknown; use {', '.join(f'{{{name}}}' for name in PLACEHOLDERS)}."
    if "number" not in used:
        return "Use {number} in it: only the job number makes names unique."
    if re.search(r"[{}]", re.sub(r"\{[^{}]*\}", "", value)) or "/" in value:
        return "Use letters, digits, . _ - and placeholders such as {number} only."
    return None


SETTINGS: Sequence[SettingField] = (
    SettingField(
        "folder",
        "Hot folder",
        help="The folder the press takes its jobs from, as the server sees it.",
        check=_absolute,
    ),
    SettingField(
        "return_folder",
        "Return folder",
        required=False,
        help="Where the press puts reports, and where files are moved to that are done. Empty: none.",
        check=_absolute,
    ),
    SettingField(
        "layout",
        "Layout",
        "choice",
        default="folders",
        choices=(("folders", "A folder for each job"), ("flat", "All files side by side")),
    ),
    SettingField(
        "name_pattern",
        "Names",
        default="{number}",
        help="Of the files or folders of a job: {number}, {order}, {item}, {product}, {sku}, {store}, {quantity}.",
        check=_pattern,
    ),
    SettingField(
        "tickets",
        "Tickets",
        "choice",
        default="both",
        choices=(
            ("both", "XJDF and JSON"),
            ("xjdf", "XJDF"),
            ("json", "JSON"),
            ("none", "None, the print file alone"),
        ),
    ),
    SettingField(
        "taken",
        "A job taken from the folder",
        "choice",
        default="Acknowledged",
        choices=(
            ("Acknowledged", "is acknowledged"),
            ("InProduction", "is in production"),
            ("none", "says nothing"),
        ),
    ),
    *GANG_SETTINGS,
)


def build(settings: Mapping[str, Any], secrets: Mapping[str, str]) -> "FolderAdapter":
    return FolderAdapter(settings)


class FolderAdapter:
    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings
        self._folder = Path(settings["folder"])
        self._back = Path(settings["return_folder"]) if settings.get("return_folder") else None
        self._work = self._folder / WORK
        self._ledger = Ledger(self._work / "jobs")

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
        return f"{self._folder} can be written; {waiting} entries wait in it, {free // 10**9} GB are free."

    def preview(self, job: Job) -> Mapping[str, Any]:
        files = self._files(job)
        shown: dict[str, Any] = {"Place": str(self._places(job, [name for name, _ in files])[0])}
        for name, content in files:
            is_text = not name.endswith(".pdf")
            shown[name] = content.decode() if is_text else f"{len(content):,} bytes"
        return shown

    def submit(self, job: Job) -> Submitted:
        self._require_folders()
        with _disk_errors() as trouble:
            entry = self._ledger.read(job.number)
            if entry is None:
                entry = self._prepare(job)
            if entry.state == CANCELLED:
                raise ProviderRefused(f"Job {job.number} was cancelled in this folder before.")
            # From here on the hot folder may contain a part of the job.
            trouble.is_unsent = not entry.has_moved(self._folder)
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
            return [*self._taken(), *self._returned()]

    def confirm(self, reports: Sequence[Report]) -> None:
        """Moves report files to `processed`; notes files in state folders, which stay there."""
        with _disk_errors():
            for source in dict.fromkeys(report.raw.partition("\n")[0] for report in reports):
                if source.startswith("file:") and self._back:
                    self._put_away(self._back / source.removeprefix("file:"), "processed")
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

    def _returned(self) -> Iterator[Report]:
        if self._back is None:
            return
        yield from self._in_state_folders()
        settled = time.time() - SETTLED_SECONDS
        files = sorted(one for one in self._back.iterdir() if one.suffix.lower() in REPORT_SUFFIXES)
        for path in files[:MAX_FILES_AT_ONCE]:
            if path.name.startswith(".") or path.lstat().st_mtime > settled or path.is_dir():
                continue
            try:
                found = _read_report(path)
            except FileNotFoundError:
                continue
            except ValueError as error:
                self._put_away(path, "unreadable", why=str(error))
                continue
            if not found:
                self._put_away(path, "processed")
            for report in found:
                yield replace(report, raw=f"file:{path.name}\n{report.raw}")

    def _in_state_folders(self) -> Iterator[Report]:
        """Reports from state folders: a job whose file is moved to `shipped` counts as shipped."""
        for name, state in STATE_FOLDERS.items():
            folder = self._back / name if self._back else None
            if folder is None or not folder.is_dir():
                continue
            for moved in sorted({path.name if path.is_dir() else path.stem for path in folder.iterdir()}):
                found = self._ledger.find_named(moved)
                if found is not None and state not in found[1].marks:
                    number = found[0]
                    text = f"job:{number}:{state}\nMoved to {name}."
                    yield Report(f"moved:{number}:{state}", number, state, datetime.now(UTC), raw=text)

    def _put_away(self, path: Path, kind: str, *, why: str = "") -> None:
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

    def _remove_leftovers(self) -> None:
        """Removes files of workers that were killed before writing their ledger entry."""
        if not (self._work.is_dir() and self._ledger.is_day_over()):
            return
        known = self._ledger.forget_old()
        before = time.time() - 86_400
        for path in self._work.glob("new-*"):
            if path.name not in known and path.stat().st_mtime < before:
                shutil.rmtree(path, ignore_errors=True)


def _read_report(path: Path) -> Sequence[Report]:
    """Raises ValueError; follows no link, which could name any file of this machine, and waits for no pipe."""
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
            raise ValueError(f"{path.name}: this is no file.")
        content = file.read(LARGEST_REPORT + 1)
    if len(content) > LARGEST_REPORT:
        raise ValueError(f"{path.name}: larger than {LARGEST_REPORT:,} bytes.")
    return read_report_file(path.name, content)


class FolderError:
    is_unsent = True


@contextmanager
def _disk_errors() -> Iterator[FolderError]:
    """Translates disk errors to ProviderUnavailable, so that the job is retried."""
    trouble = FolderError()
    try:
        yield trouble
    except OSError as error:
        reason = "the disk is full" if error.errno == errno.ENOSPC else (error.strerror or str(error)).lower()
        place = f" ({error.filename})" if error.filename else ""
        raise ProviderUnavailable(
            f"The folder could not be used: {reason}{place}.", is_unsent=trouble.is_unsent
        ) from error
