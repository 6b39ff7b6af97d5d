"""The hot folder of a press behind SFTP."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

import asyncssh

from production.adapters.addresses import host_refusal
from production.adapters.file_names import TICKETS
from production.adapters.sftp_drop import Places, put_job, withdraw_files
from production.adapters.sftp_files import LAYOUT, drop_files, exchange_of, preview_files
from production.adapters.sftp_returns import SETTLE_SECONDS, move_read, read_returns
from production.adapters.sftp_session import Progress, host_key_mistake, open_sftp, translated
from production.gang_sheets.settings import GANG_SETTINGS
from production.interface import Exchange, Job, ProviderUnavailable, Report, Submitted
from production.settings_schema import SettingField, between, clean_settings

T = TypeVar("T")


def _host_mistake(host: str) -> str | None:
    if re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|[0-9A-Fa-f:.]{2,45}", host):
        return None
    return "Write a host name such as sftp.example.com, without sftp:// and path."


def _folder_mistake(folder: str) -> str | None:
    return "The path may not hold “..”." if ".." in folder.split("/") else None


def _key_mistake(text: str) -> str | None:
    return None if "PRIVATE KEY-----" in text else "Paste the whole file, beginning with -----BEGIN."


SETTINGS: Sequence[SettingField] = (
    SettingField(
        "host", "Host", help="Such as sftp.example.com.", check=_host_mistake, check_saved=host_refusal
    ),
    SettingField("port", "Port", "integer", default=22, check=between(1, 65535)),
    SettingField(
        "host_key",
        "Host key",
        "long_text",
        help="The key line or the SHA256: fingerprint of the server, one per line. The print shop has it.",
        check=host_key_mistake,
    ),
    SettingField("username", "User name"),
    SettingField(
        "password", "Password", required=False, secret=True, help="Enter a password or a private key."
    ),
    SettingField(
        "private_key",
        "Private key",
        "long_text",
        required=False,
        secret=True,
        help="In OpenSSH or PEM form.",
        check=_key_mistake,
    ),
    SettingField("key_passphrase", "Passphrase of the private key", required=False, secret=True),
    SettingField("folder", "Hot folder", help="Jobs are placed here, such as /in.", check=_folder_mistake),
    LAYOUT,
    TICKETS,
    SettingField(
        "return_folder",
        "Return folder",
        required=False,
        help="Reports and moved files are read here, such as /out. Empty: nothing is read.",
        check=_folder_mistake,
    ),
    SettingField(
        "time_limit",
        "Time limit",
        "integer",
        default=300,
        help="Seconds for one job, all files included.",
        check=between(5, 1800),
    ),
    *GANG_SETTINGS,
)


def build(settings: Mapping[str, Any], secrets: Mapping[str, str]) -> "SftpAdapter":
    return SftpAdapter(settings, secrets)


class SftpAdapter:
    """Opens a connection for each call."""

    def __init__(
        self, settings: Mapping[str, Any], secrets: Mapping[str, str], *, settle: float = SETTLE_SECONDS
    ) -> None:
        fields = [field for field in SETTINGS if not field.secret]
        self._settings = clean_settings(fields, {**settings})
        self._secrets, self._settle = dict(secrets), settle
        self._read: dict[str, Sequence[Report]] = {}

    def check_connection(self) -> str:
        return self._run(self._check, Progress())

    def preview(self, job: Job) -> Mapping[str, Any]:
        places = self._places(job)
        return preview_files(places.target, drop_files(job, self._settings["tickets"]))

    def submit(self, job: Job) -> Submitted:
        files, places = drop_files(job, self._settings["tickets"]), self._places(job)
        progress = Progress()
        answer = self._run(lambda sftp: put_job(sftp, places, files, progress), progress)
        reference = f"{self._settings['host']}:{places.target}"
        return Submitted(reference[:200], exchange_of(places.target, files, answer))

    def cancel(self, job: Job, reference: str) -> Exchange:
        files, places = drop_files(job, self._settings["tickets"]), self._places(job)
        answer = self._run(lambda sftp: withdraw_files(sftp, places, files), Progress(is_unsent=False))
        return Exchange(f"Take back {places.target}", answer)

    def poll(self) -> Sequence[Report]:
        """Reads up to the first failure; it is raised if nothing was read before."""
        self._read = {}
        if not (folder := self._return_folder):
            return []
        try:
            self._run(lambda sftp: read_returns(sftp, folder, self._read, self._settle), Progress())
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
            name for name, found in self._read.items() if all(report.identifier in stored for report in found)
        ]
        if not names:
            return
        moved: list[str] = []
        try:
            self._run(lambda sftp: move_read(sftp, folder, names, moved), Progress())
        except ProviderUnavailable:
            if not moved:
                raise
        self._read = {name: found for name, found in self._read.items() if name not in moved}

    def parse_report(self, body: bytes, headers: Mapping[str, str]) -> Sequence[Report]:
        raise ValueError("A provider of the kind SFTP reports through its return folder.")

    @property
    def _return_folder(self) -> str:
        return str(self._settings["return_folder"]).rstrip("/")

    def _places(self, job: Job) -> Places:
        return Places.of(job, self._settings["folder"], self._settings["layout"])

    def _run(self, work: Callable[[asyncssh.SFTPClient], Awaitable[T]], progress: Progress) -> T:
        async def call() -> T:
            with translated(progress):
                async with (
                    asyncio.timeout(self._settings["time_limit"]),
                    open_sftp(self._settings, self._secrets) as sftp,
                ):
                    return await work(sftp)

        return asyncio.run(call())

    async def _check(self, sftp: asyncssh.SFTPClient) -> str:
        folder = Places(self._settings["folder"].rstrip("/") or "/", "check", "", is_flat=False)
        probe = f"{folder.work}/staging/.check"
        await sftp.listdir(folder.folder)
        await sftp.makedirs(probe, exist_ok=True)
        await sftp.rmdir(probe)
        sentence = f"Connected to {self._settings['host']}; {folder.folder} can be written to"
        if self._return_folder:
            await sftp.listdir(self._return_folder)
            sentence += f", {self._return_folder} can be read"
        return f"{sentence}."
