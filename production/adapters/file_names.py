"""File names and tickets of a job in a hot folder."""

import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from production.interface import AdapterJob, GangSheetDetails
from production.tickets import write_jdf, write_json_ticket, write_xjdf

Writer = Callable[[AdapterJob], bytes]
PAPERS_ENDING = "-eddm-papers"
# Disks allow 255 bytes: a time is written before the name of a report, an ending after it.
MAX_REPORT_NAME_LENGTH = 220
WRITERS: Mapping[str, Sequence[tuple[str, Writer]]] = {
    "both": (("xjdf", write_xjdf), ("json", write_json_ticket)),
    "xjdf": (("xjdf", write_xjdf),),
    "json": (("json", write_json_ticket),),
    "jdf": (("jdf", write_jdf),),
}


@dataclass(frozen=True, slots=True)
class DropFile:
    """A file as it is put into a hot folder."""

    name: str
    content: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


def build_files(job: AdapterJob, name: str, *, separator: str, tickets: str) -> list[DropFile]:
    """The print files, then the tickets: a press that waits for a ticket finds the files that it names."""
    names = _file_names(job, name, separator)
    files = [replace(file, name=names[file.name]) for file in job.files]
    renamed: AdapterJob = replace(job, files=files, gang=_rename_members(job.gang, names))
    ticket_files = [
        DropFile(f"{name}.{ending}", write(renamed)) for ending, write in WRITERS.get(tickets, ())
    ]
    return [*(DropFile(file.name, file.content) for file in files), *ticket_files]


def _file_names(job: AdapterJob, name: str, separator: str) -> dict[str, str]:
    """File names from the name of the job: the print file has exactly that name, papers and sheets a suffix."""
    names: dict[str, str] = {}
    is_multiple = len(job.print_files) > 1
    for position, file in enumerate(job.print_files, 1):
        suffix = PurePosixPath(file.name).suffix.lower()
        suffix = suffix if re.fullmatch(r"\.[a-z0-9]{1,5}", suffix) else ".pdf"
        count = f"{separator}{position}" if is_multiple and (position > 1 or separator == "_") else ""
        sheet = re.search(r"-sheet-\d+-run-\d+(?=\.pdf$)", file.name) if job.gang else None
        names[file.name] = f"{name}{sheet[0] if sheet else count}{suffix}"
    return names | {file.name: f"{name}{PAPERS_ENDING}.pdf" for file in job.files if not file.is_printed}


def name_with_room(name: str) -> str:
    """The end of a name, with room for a time before it and an ending after it."""
    return os.fsencode(name)[-MAX_REPORT_NAME_LENGTH:].decode("utf-8", "ignore")


def _rename_members(gang: GangSheetDetails | None, names: Mapping[str, str]) -> GangSheetDetails | None:
    if gang is None:
        return None
    members = [
        replace(
            member,
            places={names[file]: count for file, count in member.places.items()},
            runs={names[file]: run for file, run in member.runs.items()},
        )
        for member in gang.members
    ]
    return replace(gang, members=members)
