"""The return folder of an SFTP server: reads reports, and moves them once they are stored."""

import os
import random
import re
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePosixPath
from stat import S_ISDIR, S_ISREG

import asyncssh

from production.adapters.file_names import name_with_room
from production.adapters.sftp_session import MISSING
from production.interface import Report
from production.tickets import REPORT_SUFFIXES, read_report_file
from production.tickets.json_ticket import FORMAT
from production.tickets.reports import MAX_BODY_BYTES, MAX_REPORTS, report_identifier
from production.tickets.values import checked_number

# Names of incomplete files.
UNFINISHED = (".tmp", ".part", ".filepart", ".partial", ".crdownload")
# The most folders examined, and files read, in one poll, so that little is read again after a crash.
MAX_FOLDERS, READ_AT_ONCE = 500, 50
READ, REJECTED = "read", "rejected"
# Files changed within this time may still be written.
SETTLE_SECONDS = 3
SKEW_SECONDS = 60


def is_unfinished(name: str) -> bool:
    return name.startswith((".", "~")) or name.lower().endswith(UNFINISHED)


def read_returned(name: str, content: bytes, modified: datetime | None) -> Sequence[Report]:
    """Reads a report file. Another file with a job's number in its name was moved by the press and counts as
    acknowledgement.

    Reports without a time get that of the file. Raises ValueError with the fault.
    """
    path = PurePosixPath(name)
    if path.suffix.lower() in REPORT_SUFFIXES and not (path.suffix == ".json" and FORMAT.encode() in content):
        reports = read_report_file(name, content)
        if reports or path.suffix.lower() not in {".xjdf", ".xml"}:
            return [replace(report, at=report.at or modified) for report in reports]
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
    identifier = report_identifier("moved", number, "Acknowledged", None, {})
    return Report(identifier, number, "Acknowledged", None, message=f"{name} was moved.", raw=name)


async def read_returns(
    sftp: asyncssh.SFTPClient,
    folder: str,
    by_name: dict[str, Sequence[Report]],
    settle: float = SETTLE_SECONDS,
) -> None:
    """Adds reports to `by_name` by file name: a connection that fails later leaves what was read before.

    Unreadable files are moved to `rejected`, with the reason in a file beside them.
    """
    empty_names: list[str] = []
    async for name, attrs in _returned_entries(sftp, folder):
        if len(by_name) + len(empty_names) >= READ_AT_ONCE:
            break
        if sum(map(len, by_name.values())) >= MAX_REPORTS:
            break
        try:
            reports = await _read_file(sftp, folder, name, attrs, settle)
        except MISSING:
            # The press has taken it away.
            continue
        except ValueError as error:
            await _reject_file(sftp, folder, name, str(error))
            continue
        if reports:
            by_name[name] = reports
        elif reports is not None:
            empty_names.append(name)
    await move_read(sftp, folder, empty_names, [])


async def _returned_entries(
    sftp: asyncssh.SFTPClient, folder: str
) -> AsyncIterator[tuple[str, asyncssh.SFTPAttrs]]:
    """Yields all files, then folders by chance: folders that belong to no job stay there and hold up no others."""
    folders: list[tuple[str, asyncssh.SFTPAttrs]] = []
    folder_count = 0
    async for entry in sftp.scandir(folder):
        name = (
            entry.filename if isinstance(entry.filename, str) else entry.filename.decode("utf-8", "replace")
        )
        if is_unfinished(name) or name in {READ, REJECTED}:
            continue
        if not S_ISDIR(entry.attrs.permissions or 0):
            yield name, entry.attrs
            continue
        folder_count += 1
        if len(folders) < MAX_FOLDERS:
            folders.append((name, entry.attrs))
        elif (index := random.randrange(folder_count)) < MAX_FOLDERS:  # noqa: S311 - no secret
            folders[index] = name, entry.attrs
    for subfolder in folders:
        yield subfolder


async def move_read(
    sftp: asyncssh.SFTPClient, folder: str, names: Sequence[str], moved_names: list[str]
) -> None:
    """Adds to `moved_names` file by file."""
    if not names:
        return
    target = f"{folder}/{READ}/{datetime.now(UTC):%Y-%m}"
    await sftp.makedirs(target, exist_ok=True)
    for name in names:
        await _move_file(sftp, f"{folder}/{name}", f"{target}/{name_with_room(name)}")
        moved_names.append(name)


async def _read_file(
    sftp: asyncssh.SFTPClient, folder: str, name: str, attrs: asyncssh.SFTPAttrs, settle: float
) -> Sequence[Report] | None:
    """The reports of a file; None if it may still be written or belongs to no job."""
    if not _is_utf8(name):
        raise ValueError("The name of the file is not UTF-8.")
    mode, modified = attrs.permissions or 0, attrs.mtime
    if -SKEW_SECONDS < time.time() - (modified or 0) < settle:
        return None
    path = f"{folder}/{name}"
    if S_ISDIR(mode):
        files_of_job = [f"{path}/{name}{suffix}" for suffix in (".xjdf", ".json", ".pdf")]
        return [acknowledgement(name)] if any([await sftp.exists(file) for file in files_of_job]) else None
    if not S_ISREG(mode):
        return None
    if not name.lower().endswith(tuple(REPORT_SUFFIXES)):
        return [acknowledgement(name)]
    if (attrs.size or 0) > MAX_BODY_BYTES:
        raise ValueError(f"{name}: a report may have at most {MAX_BODY_BYTES:,} bytes.")
    async with sftp.open(path, "rb") as remote:
        content: bytes = await remote.read(MAX_BODY_BYTES + 1)
    return read_returned(name, content, datetime.fromtimestamp(modified, UTC) if modified else None)


def _is_utf8(name: str) -> bool:
    return os.fsencode(name).decode("utf-8", "ignore") == name


async def _reject_file(sftp: asyncssh.SFTPClient, folder: str, name: str, reason: str) -> None:
    await sftp.makedirs(f"{folder}/{REJECTED}", exist_ok=True)
    target = f"{folder}/{REJECTED}/{name_with_room(name)}"
    async with sftp.open(f"{target}.error.txt", "w", encoding="utf-8") as remote:
        await remote.write(f"{reason}\n")
    await _move_file(sftp, f"{folder}/{name}", target)


async def _move_file(sftp: asyncssh.SFTPClient, source: str, target: str) -> None:
    """Moves a file without replacing an existing one."""
    number = 1
    free_path = target
    while await sftp.exists(free_path):
        number += 1
        stem, dot, suffix = target.rpartition(".")
        free_path = f"{stem}-{number}{dot}{suffix}" if stem else f"{target}-{number}"
    try:
        await sftp.rename(source, free_path)
    except MISSING:
        return
