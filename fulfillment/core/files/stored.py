"""Files in the configured storage."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, default_storage

BATCH = 500


def write_files(files: Iterable[tuple[str, bytes]]) -> None:
    """Writes all files, replacing existing ones; after an error it removes those already written."""
    names: list[str] = []
    try:
        for name, content in files:
            names.append(name)
            saved = default_storage.save(name, ContentFile(content))
            if saved != name:
                raise OSError(f"The storage may not overwrite: it made {saved!r} of {name!r}.")
    except Exception:
        remove_files(names)
        raise


def remove_files(names: Iterable[str]) -> None:
    for name in names:
        with suppress(Exception):
            default_storage.delete(name)


def read_file(name: str) -> bytes:
    with default_storage.open(name) as file:
        return bytes(file.read())


def list_folder(folder: str) -> tuple[list[str], list[str]]:
    """The folders and the files in it; none where there is no such folder."""
    try:
        folders, names = default_storage.listdir(folder)
    except FileNotFoundError:
        return [], []
    return folders, names


def batches(names: list[str]) -> Iterator[list[str]]:
    """Splits names into batches for one statement each."""
    for start in range(0, len(names), BATCH):
        yield names[start : start + BATCH]


def files_are_complete(names: Sequence[str], sizes: Sequence[int]) -> bool:
    """A folder may have lost files to a power failure or an old backup; a bucket is not checked, it takes too long."""
    if not isinstance(default_storage, FileSystemStorage):
        return True
    folder = default_storage.location
    try:
        return all(
            os.stat(f"{folder}/{name}").st_size == size  # noqa: PTH116 - for each known proof
            for name, size in zip(names, sizes, strict=True)
        )
    except OSError:
        return False
