"""The manifest of a backup; a folder without it is not a backup."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from fulfillment.core.errors import Unprocessable

FORMAT = 1
MANIFEST, DUMP, FILE_LIST, FILES = "manifest.json", "database.dump", "files.jsonl", "files"


@dataclass(frozen=True, slots=True)
class Content:
    """One file of the storage; `name` is its name there."""

    name: str
    bytes: int
    sha256: str


@dataclass(slots=True)
class Manifest:
    """`tables` are the rows of each table, `absent` the files that rows name and the storage had no more."""

    created: str
    postgresql: int
    dump_sha256: str
    list_sha256: str
    file_count: int
    file_bytes: int
    tables: dict[str, int]
    absent: list[str] = field(default_factory=list)
    format: int = FORMAT

    def write(self, folder: Path) -> None:
        write_durably(folder / MANIFEST, json.dumps(asdict(self), indent=1) + "\n")


def read_manifest(folder: Path) -> Manifest:
    """Raises Unprocessable for an incomplete or invalid backup."""
    try:
        values = json.loads((folder / MANIFEST).read_text("utf-8"))
        manifest = Manifest(**values)
    except FileNotFoundError as error:
        raise Unprocessable(
            f"{folder} is not a complete backup: it has no {MANIFEST}.", code="no_backup"
        ) from error
    except (ValueError, TypeError) as error:
        raise Unprocessable(f"{folder / MANIFEST} cannot be read.", code="backup_damaged") from error
    if manifest.format != FORMAT:
        raise Unprocessable(
            f"The backup has format {manifest.format}; this release reads format {FORMAT}.",
            code="backup_format",
        )
    return manifest


def check_backup(folder: Path, manifest: Manifest) -> None:
    """Compares every byte with the manifest before anything is touched."""
    for name, sha256 in ((DUMP, manifest.dump_sha256), (FILE_LIST, manifest.list_sha256)):
        if _hash_or_none(folder / name) != sha256:
            raise _damage_error(name)
    contents = list(read_contents(folder))
    if len(contents) != manifest.file_count:
        raise _damage_error(FILE_LIST)
    for content in contents:
        if _hash_or_none(folder / FILES / content.name) != content.sha256:
            raise _damage_error(f"{FILES}/{content.name}")


def write_contents(folder: Path, contents: Iterable[Content]) -> tuple[int, int]:
    """Writes the list of files; returns their number and total size."""
    count = size = 0
    with (folder / FILE_LIST).open("w", encoding="utf-8") as lines:
        for content in contents:
            lines.write(json.dumps(asdict(content)) + "\n")
            count, size = count + 1, size + content.bytes
        lines.flush()
        os.fsync(lines.fileno())
    return count, size


def read_contents(folder: Path) -> Iterator[Content]:
    with (folder / FILE_LIST).open(encoding="utf-8") as lines:
        for line in lines:
            values: dict[str, Any] = json.loads(line)
            path = PurePosixPath(values["name"])
            # A forged list must not lead to files outside of the folder.
            if path.is_absolute() or ".." in path.parts:
                raise _damage_error(FILE_LIST)
            yield Content(**values)


def hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_durably(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _hash_or_none(path: Path) -> str | None:
    try:
        return hash_file(path)
    except OSError:
        return None


def _damage_error(name: str) -> Unprocessable:
    return Unprocessable(
        f"The backup is damaged: {name} differs from what was written. Nothing was restored.",
        code="backup_damaged",
    )
