"""The files of a job on an SFTP server, and reports read from its return folder."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePosixPath

from production.adapters.file_names import file_names, ticket_files
from production.interface import Exchange, Job, ProviderRefused, Report
from production.tickets import REPORT_SUFFIXES, read_report_file
from production.tickets.json_ticket import FORMAT
from production.tickets.reports import identify
from production.tickets.values import checked_number

# Names of incomplete files.
UNFINISHED = (".tmp", ".part", ".filepart", ".partial", ".crdownload")


@dataclass(frozen=True, slots=True)
class DropFile:
    name: str
    content: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


def drop_files(job: Job, tickets: str) -> list[DropFile]:
    """Print files first, tickets last: a press that waits for the ticket finds the files."""
    number = checked_number(job.number)
    names = file_names(job, number, separator="_")
    found = []
    for file in job.files:
        if hashlib.sha256(file.content).hexdigest() != file.sha256:
            raise ProviderRefused(f"The print file {file.name} is damaged: its SHA-256 has changed.")
        found.append(DropFile(names[file.name], file.content))
    found += [DropFile(name, content) for name, content in ticket_files(tickets, number, job, names)]
    if not found:
        raise ProviderRefused(f"Job {number} has no print file, and this provider takes no tickets.")
    return found


def preview_files(folder: str, files: Sequence[DropFile]) -> dict[str, str]:
    """A preview by path: the text of tickets, size and digest of other files."""
    return {f"{folder}/{file.name}": _shown(file) for file in files}


def recorded_exchange(folder: str, files: Sequence[DropFile], response: str) -> Exchange:
    lines = [f"{folder}/{file.name}  {len(file.content):,} bytes" for file in files]
    return Exchange("\n".join(lines), response, {file.name: file.sha256 for file in files})


def is_unfinished(name: str) -> bool:
    return name.startswith((".", "~")) or name.lower().endswith(UNFINISHED)


def read_returned(name: str, content: bytes, changed: datetime | None) -> Sequence[Report]:
    """Reads a report file. Another file with a job's number in its name was moved by the press and counts as
    acknowledgement.

    Reports without a time get that of the file. Raises ValueError with the fault.
    """
    path = PurePosixPath(name)
    if path.suffix.lower() in REPORT_SUFFIXES and not (path.suffix == ".json" and FORMAT.encode() in content):
        reports = read_report_file(name, content)
        if reports or path.suffix.lower() not in {".xjdf", ".xml"}:
            return [replace(report, at=report.at or changed) for report in reports]
    return [acknowledgement(name)]


def acknowledgement(name: str) -> Report:
    """The report for a file or folder of a job that the press has moved; its time is unknown."""
    number = re.sub(r"(_\d{1,3}|-eddm-papers|-sheet-\d+-run-\d+)$", "", PurePosixPath(name).stem)
    try:
        checked_number(number)
    except ValueError as error:
        raise ValueError(
            f"{name}: the name of a moved file must begin with the number of its job."
        ) from error
    identifier = identify("moved", number, "Acknowledged", None, {})
    return Report(identifier, number, "Acknowledged", None, message=f"{name} was moved.", raw=name)


def _shown(file: DropFile) -> str:
    if file.name.endswith((".xjdf", ".json")):
        return file.content.decode()
    return f"{len(file.content):,} bytes, SHA-256 {file.sha256}"
