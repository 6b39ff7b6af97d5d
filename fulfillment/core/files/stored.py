"""The files of proofs, assets and fonts in the configured storage."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from uuid import UUID

from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, default_storage

BATCH = 500
PRINT_FILES = "print-files"
PRESS_PICTURES = "press-pictures"
DOCUMENTS = "documents"


def proof_folder(digest: str) -> str:
    return f"proofs/{digest[:2]}/{digest}"


def proof_files(digest: str, page_count: int) -> list[str]:
    """The PDF first, then the pages."""
    folder = proof_folder(digest)
    return [f"{folder}/proof.pdf", *(f"{folder}/page-{page}.png" for page in range(1, page_count + 1))]


def wide_page_file(digest: str, page: int, width: int) -> str:
    """A page in a width of its own; it can be drawn again at any time."""
    return f"{proof_folder(digest)}/page-{page}-{width}.png"


def print_folder(order_id: UUID) -> str:
    """Sharded by the last letters: the first ones are the time, the same for many."""
    return f"{PRINT_FILES}/{order_id.hex[-2:]}/{order_id}"


def asset_file(asset_id: UUID, form: str) -> str:
    return f"assets/{asset_id.hex[:2]}/{asset_id.hex}.{form}"


def document_file(sha256: str) -> str:
    """A print-ready PDF, by the digest of what was sent."""
    return f"{DOCUMENTS}/{sha256[:2]}/{sha256}.pdf"


def press_picture_file(digest: str, conversion: str) -> str:
    """A picture in the inks of a preset; it can be made again at any time."""
    return f"{PRESS_PICTURES}/{digest[:2]}/{digest}-{conversion}.pdf"


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
