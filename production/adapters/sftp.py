"""The hot folder of a press behind SFTP."""

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import asyncssh
from django import forms

from production.adapters.folder_settings import TicketSettings
from production.adapters.gang_settings import GangSettings
from production.adapters.http import url_refusal
from production.adapters.registry import register
from production.adapters.sftp_drop import (
    Places,
    describe_exchange,
    drop_files,
    preview_files,
    put_job,
    withdraw_files,
)
from production.adapters.sftp_returns import SETTLE_SECONDS, move_read, read_returns
from production.adapters.sftp_session import open_sftp, read_fingerprints, sftp_errors
from production.interface import (
    POLL_SECONDS,
    AdapterJob,
    Exchange,
    Ledger,
    ProviderUnavailable,
    Report,
    SendingProgress,
    Submitted,
)
from production.settings_form import LongText, Text, between

T = TypeVar("T")


def _check_host(host: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|[0-9A-Fa-f:.]{2,45}", host):
        raise ValueError("Write a host name such as sftp.example.com, without sftp:// and path.")


def _check_folder(folder: str) -> None:
    if ".." in folder.split("/"):
        raise ValueError("The path must not contain “..”.")


def _check_key(text: str) -> None:
    if "PRIVATE KEY-----" not in text:
        raise ValueError("Paste the whole file, beginning with -----BEGIN.")


class SftpSettings(TicketSettings, GangSettings):
    secrets = ("password", "private_key", "key_passphrase")

    host = Text(_check_host, label="Host", help_text="Such as sftp.example.com.")
    port = forms.IntegerField(label="Port", initial=22, validators=[between(1, 65535)])
    host_key = LongText(
        read_fingerprints,
        label="Host key",
        help_text="The server's host key line or SHA256: fingerprint, one per line. Ask the print shop for "
        "it.",
    )
    username = Text(label="User name")
    password = Text(label="Password", required=False, help_text="Enter a password or a private key.")
    private_key = LongText(
        _check_key, label="Private key", required=False, help_text="In OpenSSH or PEM form."
    )
    key_passphrase = Text(label="Passphrase of the private key", required=False)
    folder = Text(_check_folder, label="Hot folder", help_text="Jobs are placed here, such as /in.")
    layout = forms.ChoiceField(
        label="Layout",
        help_text="A folder for each job appears as a whole. With all files in one folder, tickets appear "
        "after the print files.",
        initial="job_folder",
        choices=(("job_folder", "One folder for each job"), ("flat", "All files in one folder")),
    )
    return_folder = Text(
        _check_folder,
        label="Return folder",
        required=False,
        help_text="Reports and moved files are read here, such as /out. Empty: nothing is read.",
    )
    time_limit = forms.IntegerField(
        label="Time limit",
        initial=300,
        help_text="Seconds for one job, all files included.",
        validators=[between(5, 1800)],
    )
    field_order = ("host", "port", "host_key", "username", *secrets, "folder", "layout", "tickets")

    def check_saved(self) -> None:
        host = self.cleaned_data["host"]
        if mistake := url_refusal(f"https://{f'[{host}]' if ':' in host else host}/"):
            self.add_error("host", mistake)


@register(
    "sftp",
    label="SFTP server",
    purpose="Files are placed in a folder on the print shop's SFTP server.",
    settings=SftpSettings,
)
class SftpAdapter:
    """Opens a connection for each call."""

    def __init__(
        self,
        settings: Mapping[str, Any],
        secrets: Mapping[str, str],
        ledger: Ledger | None = None,
        *,
        settle: float = SETTLE_SECONDS,
    ) -> None:
        self._settings, self._secrets, self._settle = settings, dict(secrets), settle
        self._read: dict[str, Sequence[Report]] = {}

    def check_connection(self) -> str:
        return self._run_session(self._check_folders, SendingProgress(), POLL_SECONDS)

    def preview(self, job: AdapterJob) -> Mapping[str, Any]:
        places = self._find_places(job)
        return preview_files(places.target, drop_files(job, self._settings["tickets"]))

    def submit(self, job: AdapterJob) -> Submitted:
        files, places = drop_files(job, self._settings["tickets"]), self._find_places(job)
        progress = SendingProgress()
        response = self._run_session(lambda sftp: put_job(sftp, places, files, progress), progress)
        reference = f"{self._settings['host']}:{places.target}"
        return Submitted(reference[:200], describe_exchange(places.target, files, response))

    def cancel(self, job: AdapterJob, reference: str) -> Exchange:
        files, places = drop_files(job, self._settings["tickets"]), self._find_places(job)
        response = self._run_session(
            lambda sftp: withdraw_files(sftp, places, files), SendingProgress(is_unsent=False)
        )
        return Exchange(f"Take back {places.target}", response)

    def poll(self) -> Sequence[Report]:
        """Reads up to the first failure; it is raised if nothing was read before."""
        self._read = {}
        if not (folder := self._return_folder):
            return []
        try:
            self._run_session(
                lambda sftp: read_returns(sftp, folder, self._read, self._settle),
                SendingProgress(),
                POLL_SECONDS,
            )
        except ProviderUnavailable:
            if not self._read:
                raise
        return [report for reports in self._read.values() for report in reports]

    def confirm(self, reports: Sequence[Report]) -> None:
        """Moves files up to the first failure; it is raised if no file was moved. The others are read again."""
        if not (folder := self._return_folder) or not reports:
            return
        if not self._read:
            self.poll()
        stored = {report.identifier for report in reports}
        names = [
            name
            for name, reports_of_file in self._read.items()
            if {report.identifier for report in reports_of_file} <= stored
        ]
        if not names:
            return
        moved_names: list[str] = []
        try:
            self._run_session(
                lambda sftp: move_read(sftp, folder, names, moved_names), SendingProgress(), POLL_SECONDS
            )
        except ProviderUnavailable:
            if not moved_names:
                raise
        self._read = {name: of_file for name, of_file in self._read.items() if name not in moved_names}

    def parse_report(self, body: bytes, headers: Mapping[str, str]) -> Sequence[Report]:
        raise ValueError("A provider of the kind SFTP reports through its return folder.")

    @property
    def _return_folder(self) -> str:
        return str(self._settings["return_folder"]).rstrip("/")

    def _find_places(self, job: AdapterJob) -> Places:
        return Places.of(job, self._settings["folder"], self._settings["layout"])

    def _run_session(
        self,
        work: Callable[[asyncssh.SFTPClient], Awaitable[T]],
        progress: SendingProgress,
        limit: float = math.inf,
    ) -> T:
        seconds = min(limit, self._settings["time_limit"])

        async def call() -> T:
            with sftp_errors(progress):
                async with (
                    asyncio.timeout(seconds),
                    open_sftp(self._settings, self._secrets) as sftp,
                ):
                    return await work(sftp)

        return asyncio.run(call())

    async def _check_folders(self, sftp: asyncssh.SFTPClient) -> str:
        folder = Places(self._settings["folder"].rstrip("/") or "/", "check", "", is_flat=False)
        probe = f"{folder.work}/staging/.check"
        await _list_first(sftp, folder.folder)
        await sftp.makedirs(probe, exist_ok=True)
        await sftp.rmdir(probe)
        sentence = f"Connected to {self._settings['host']}; {folder.folder} can be written to"
        if self._return_folder:
            await _list_first(sftp, self._return_folder)
            sentence += f", {self._return_folder} can be read"
        return f"{sentence}."


async def _list_first(sftp: asyncssh.SFTPClient, folder: str) -> None:
    """Raises SFTPError for a folder that cannot be listed; a server may list names without end."""
    async for _ in sftp.scandir(folder):
        return
