"""File names and tickets of a job in a hot folder."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from django import forms

from production.interface import Job, Member
from production.settings_form import SettingsForm
from production.tickets import write_jdf, write_json_ticket, write_xjdf

Writer = Callable[[Job, Mapping[str, str] | None], bytes]
PAPERS_ENDING = "-eddm-papers"
# Of the 255 bytes that disks allow: a time is written before the name of a report, an ending after it.
MAX_REPORT_NAME_LENGTH = 220


class TicketSettings(SettingsForm):
    tickets = forms.ChoiceField(
        label="Tickets",
        help_text="Which tickets go with the print files.",
        initial="both",
        choices=(
            ("both", "XJDF and JSON"),
            ("xjdf", "XJDF"),
            ("json", "JSON"),
            ("jdf", "JDF 1.5, for hot folders of digital presses"),
            ("none", "None: only the print file"),
        ),
    )


WRITERS: Mapping[str, Sequence[tuple[str, Writer]]] = {
    "both": (("xjdf", write_xjdf), ("json", write_json_ticket)),
    "xjdf": (("xjdf", write_xjdf),),
    "json": (("json", write_json_ticket),),
    "jdf": (("jdf", write_jdf),),
}


def ticket_files(
    chosen: str, name: str, job: Job, names: Mapping[str, str] | None = None
) -> list[tuple[str, bytes]]:
    """The tickets of the setting, as files with the name of the job."""
    return [(f"{name}.{ending}", write(job, names)) for ending, write in WRITERS.get(chosen, ())]


def file_names(job: Job, name: str, *, separator: str) -> dict[str, str]:
    """File names from the name of the job: the print file has exactly that name, papers and sheets a suffix."""
    names: dict[str, str] = {}
    several = len(job.print_files) > 1
    for position, file in enumerate(job.print_files, 1):
        suffix = PurePosixPath(file.name).suffix.lower()
        suffix = suffix if re.fullmatch(r"\.[a-z0-9]{1,5}", suffix) else ".pdf"
        count = f"{separator}{position}" if several and (position > 1 or separator == "_") else ""
        sheet = re.search(r"-sheet-\d+-run-\d+(?=\.pdf$)", file.name) if job.members else None
        names[file.name] = f"{name}{sheet[0] if sheet else count}{suffix}"
    return names | {file.name: f"{name}{PAPERS_ENDING}.pdf" for file in job.files if not file.is_printed}


def name_with_room(name: str) -> str:
    """The end of a name, with room for a time before it and an ending after it."""
    return os.fsencode(name)[-MAX_REPORT_NAME_LENGTH:].decode("utf-8", "ignore")


def renamed_members(job: Job, names: Mapping[str, str]) -> Sequence[Member]:
    return [
        replace(
            member,
            places={names[file]: count for file, count in member.places.items()},
            runs={names[file]: run for file, run in member.runs.items()},
        )
        for member in job.members
    ]
