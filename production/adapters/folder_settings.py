"""The settings of a hot folder and its tickets, as a form shows them."""

import re
from pathlib import Path

from django import forms
from django.conf import settings

from production.adapters.gang_settings import GangSettings
from production.settings_form import SettingsForm, Text

PLACEHOLDERS = ("number", "order", "item", "product", "sku", "store", "quantity")


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
