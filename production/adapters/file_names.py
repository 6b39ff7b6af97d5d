"""File names and tickets of a job in a hot folder, and the settings of the folder, as a form shows them."""

import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from django import forms
from django.conf import settings

from production.adapters.gang_settings import GangSettings
from production.interface import AdapterJob, GangSheetDetails
from production.settings_form import SettingsForm, Text
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
PLACEHOLDERS = ("number", "order", "item", "product", "sku", "store", "quantity")


@dataclass(frozen=True, slots=True)
class DropFile:
    """A file as it is put into a hot folder."""

    name: str
    content: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


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


def _check_path(value: str) -> None:
    if not (value.startswith("/") and ".." not in Path(value).parts):
        raise ValueError("Enter the full path, such as /srv/press/in.")


def _check_pattern(value: str) -> None:
    names = re.findall(r"\{([^{}]*)\}", value)
    if unknown := [name for name in names if name not in PLACEHOLDERS]:
        allowed = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
        raise ValueError(f"{{{unknown[0]}}} is unknown; use {allowed}.")
    if "number" not in names:
        raise ValueError("Include {number}: only the job number makes names unique.")
    if re.search(r"[{}]", re.sub(r"\{[^{}]*\}", "", value)) or "/" in value:
        raise ValueError("Use letters, digits, . _ - and placeholders such as {number} only.")


class FolderSettings(TicketSettings, GangSettings):
    folder = Text(
        _check_path,
        label="Hot folder",
        help_text="The folder that the press takes jobs from: the full path on this server.",
    )
    return_folder = Text(
        _check_path,
        label="Return folder",
        required=False,
        help_text="Where the press puts reports and moves finished files. Empty: no reports.",
    )
    layout = forms.ChoiceField(
        label="Layout",
        initial="folders",
        choices=(("folders", "One folder for each job"), ("flat", "All files in one folder")),
    )
    name_pattern = Text(
        _check_pattern,
        label="Names",
        initial="{number}",
        help_text="Of the files or folders of a job, from {number}, {order}, {item}, {product}, {sku}, {store}, "
        "{quantity}.",
    )
    taken = forms.ChoiceField(
        label="When the press takes a job",
        initial="Acknowledged",
        choices=(
            ("Acknowledged", "Mark it as acknowledged"),
            ("InProduction", "Mark it as in production"),
            ("none", "Wait for a report"),
        ),
    )
    field_order = ("folder", "return_folder", "layout", "name_pattern", "tickets", "taken")

    def check_saved(self) -> None:
        """Requires hot folders below PRODUCTION_FOLDERS, so that no other files can be overwritten."""
        roots = [Path(root).resolve() for root in settings.PRODUCTION_FOLDERS]
        folders = {name: self.cleaned_data.get(name, "") for name in ("folder", "return_folder")}
        for name, folder in folders.items():
            if folder and not any(Path(folder).resolve().is_relative_to(root) for root in roots):
                allowed = ", ".join(str(root) for root in roots) or "none"
                self.add_error(name, f"{folder} is outside of the folders of PRODUCTION_FOLDERS: {allowed}.")
        if folders["return_folder"] and folders["return_folder"] == folders["folder"]:
            self.add_error("return_folder", "The return folder must be another folder.")
