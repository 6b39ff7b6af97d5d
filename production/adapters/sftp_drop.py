"""Puts a job into a folder of an SFTP server exactly once, and withdraws it.

Files are written to a staging folder beside the hot folder. When all are complete a marker with the number of
the job is made, and then they are renamed into place. A retry reads where the try before it ended: without a
marker nothing was visible and all begins again; with a marker what still lies in staging is renamed, and an empty
staging says that the press has the job, also when it has moved the files away since.
"""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import asyncssh

from production.adapters.file_names import DropFile, build_files
from production.adapters.sftp_session import MISSING
from production.interface import AdapterJob, Exchange, ProviderRefused, SendingProgress
from production.tickets.values import checked_number

CHUNK = 256 * 1024
# The files of one job in a folder of ours; a server may list names without end.
MAX_FILES = 1000


@dataclass(frozen=True, slots=True)
class Places:
    """The paths of a job. All must be in one file system, because files are renamed."""

    folder: str
    number: str
    month: str
    is_flat: bool

    @classmethod
    def of(cls, job: AdapterJob, folder: str, layout: str) -> "Places":
        return cls(folder.rstrip("/") or "/", job.number, f"{job.created:%Y-%m}", layout == "flat")

    @property
    def work(self) -> str:
        return f"{self.folder}/.store-fulfillment"

    @property
    def staging(self) -> str:
        return f"{self.work}/staging/{self.number}"

    @property
    def marker(self) -> str:
        return f"{self.work}/sent/{self.month}/{self.number}"

    @property
    def cancelled(self) -> str:
        return f"{self.work}/cancelled/{self.number}"

    @property
    def target(self) -> str:
        return self.folder if self.is_flat else f"{self.folder}/{self.number}"


def drop_files(job: AdapterJob, tickets: str) -> list[DropFile]:
    for file in job.files:
        if hashlib.sha256(file.content).hexdigest() != file.sha256:
            raise ProviderRefused(f"The print file {file.name} is damaged: its SHA-256 has changed.")
    number = checked_number(job.number)
    files = build_files(job, number, separator="_", tickets=tickets)
    if not files:
        raise ProviderRefused(f"Job {number} has no print file, and this provider takes no tickets.")
    return files


def preview_files(folder: str, files: Sequence[DropFile]) -> dict[str, str]:
    """A preview by path: the text of tickets, size and digest of other files."""
    return {f"{folder}/{file.name}": _file_text(file) for file in files}


def describe_exchange(folder: str, files: Sequence[DropFile], response: str) -> Exchange:
    lines = [f"{folder}/{file.name}  {len(file.content):,} bytes" for file in files]
    return Exchange("\n".join(lines), response, {file.name: file.sha256 for file in files})


def _file_text(file: DropFile) -> str:
    if file.name.endswith((".xjdf", ".json")):
        return file.content.decode()
    return f"{len(file.content):,} bytes, SHA-256 {file.sha256}"


async def put_job(
    sftp: asyncssh.SFTPClient, places: Places, files: Sequence[DropFile], progress: SendingProgress
) -> str:
    """Puts the job's files into the hot folder; returns a message."""
    if not await sftp.isdir(places.folder):
        raise ProviderRefused(f"The folder {places.folder} does not exist at the server.", concerns_all=True)
    if await sftp.exists(places.cancelled):
        raise ProviderRefused(f"Job {places.number} was cancelled at this server before.")
    was_sent = await sftp.exists(places.marker)
    if not was_sent:
        await _stage_files(sftp, places, files)
        progress.is_unsent = False
        await _mark_files(sftp, places, files)
    progress.is_unsent = False
    moved = await _release(sftp, places, files)
    if was_sent and not moved:
        return "The server already had this job. Nothing was sent again."
    return f"Renamed into {places.target}."


async def withdraw_files(sftp: asyncssh.SFTPClient, places: Places, files: Sequence[DropFile]) -> str:
    """Raises ProviderRefused once the press has taken a file. A late try to send the job is refused after this."""
    await sftp.makedirs(places.cancelled, exist_ok=True)
    if not await sftp.exists(places.marker):
        with suppress(asyncssh.SFTPError):
            await _remove_folder(sftp, places.staging)
        return "The job was not sent."
    try:
        await (_take_files(sftp, places, files) if places.is_flat else _take_folder(sftp, places))
    except ProviderRefused:
        with suppress(asyncssh.SFTPError):
            await _remove_folder(sftp, places.cancelled)
        raise
    return f"Moved to {places.cancelled}."


async def _stage_files(sftp: asyncssh.SFTPClient, places: Places, files: Sequence[DropFile]) -> None:
    if await sftp.exists(places.staging):
        await _remove_folder(sftp, places.staging)
    await sftp.makedirs(places.staging, exist_ok=True)
    for file in files:
        path = f"{places.staging}/{file.name}"
        async with sftp.open(path, "wb") as remote:
            for start in range(0, len(file.content), CHUNK):
                await remote.write(file.content[start : start + CHUNK])
            with suppress(asyncssh.SFTPOpUnsupported):
                await remote.fsync()
        if (await sftp.stat(path)).size != len(file.content):
            raise OSError(f"{file.name} did not arrive completely")


async def _remove_folder(sftp: asyncssh.SFTPClient, folder: str) -> None:
    """Removes the folder with its files, of which `rmtree` would hold every name in memory."""
    names: list[str] = []
    async for entry in sftp.scandir(folder):
        names.append(str(entry.filename))
        if len(names) > MAX_FILES:
            raise ProviderRefused(f"{folder} has more than {MAX_FILES:,} files; remove it at the server.")
    for name in names:
        if name not in {".", ".."}:
            await sftp.remove(f"{folder}/{name}")
    await sftp.rmdir(folder)


async def _mark_files(sftp: asyncssh.SFTPClient, places: Places, files: Sequence[DropFile]) -> None:
    await sftp.makedirs(places.marker.rpartition("/")[0], exist_ok=True)
    lines = "".join(f"{file.sha256}  {file.name}\n" for file in files)
    async with sftp.open(places.marker, "wb") as remote:
        await remote.write(lines.encode())


async def _release(sftp: asyncssh.SFTPClient, places: Places, files: Sequence[DropFile]) -> bool:
    """Renames the files into the hot folder; returns whether any was left."""
    if not places.is_flat:
        return await _was_moved(sftp, places.staging, places.target)
    moved = False
    for file in files:  # tickets last
        moved |= await _was_moved(sftp, f"{places.staging}/{file.name}", f"{places.folder}/{file.name}")
    with suppress(*MISSING):
        await sftp.rmdir(places.staging)
    return moved


async def _take_files(sftp: asyncssh.SFTPClient, places: Places, files: Sequence[DropFile]) -> None:
    """Withdraws the files, all or none; tickets first, so that the press cannot start from them."""
    moved_files: list[tuple[str, str]] = []
    for file in reversed(files):
        target = f"{places.cancelled}/{file.name}"
        sources = (f"{places.staging}/{file.name}", f"{places.folder}/{file.name}")
        if await sftp.exists(target):
            moved_files.append((target, sources[1]))  # by an earlier attempt
            continue
        for source in sources:
            if await _was_moved(sftp, source, target):
                moved_files.append((target, source))
                break
        else:
            for back, origin in reversed(moved_files):
                await _was_moved(sftp, back, origin)
            raise ProviderRefused(f"The press has taken {file.name}; cancel the job there.")
    with suppress(*MISSING):
        await sftp.rmdir(places.staging)


async def _take_folder(sftp: asyncssh.SFTPClient, places: Places) -> None:
    target = f"{places.cancelled}/files"
    for source in (places.staging, places.target):
        if await sftp.exists(target) or await _was_moved(sftp, source, target):
            return
    raise ProviderRefused("The press has taken the job's folder; cancel it there.")


async def _was_moved(sftp: asyncssh.SFTPClient, source: str, target: str) -> bool:
    """Renames a file; False if the source does not exist (any more)."""
    try:
        await sftp.posix_rename(source, target)
    except asyncssh.SFTPOpUnsupported:
        return await _was_moved_plainly(sftp, source, target)
    except MISSING:
        if await sftp.exists(source):
            raise
        return False
    except asyncssh.SFTPError as error:
        if await sftp.exists(target):
            raise ProviderRefused(f"{target} already exists, and this service did not create it.") from error
        raise
    return True


async def _was_moved_plainly(sftp: asyncssh.SFTPClient, source: str, target: str) -> bool:
    """Moves a file at a server without OpenSSH's extension, whose rename never replaces a file."""
    try:
        await sftp.rename(source, target)
    except MISSING:
        if await sftp.exists(source):
            raise
        return False
    return True
