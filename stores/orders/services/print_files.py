"""Print files of ordered items: stored before the order is written, and never changed."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.core.files.storage import default_storage

from fulfillment.core.errors import DomainError, NotFound
from fulfillment.core.files.storage import storage_errors
from fulfillment.core.files.stored import listed, print_folder, read_file, remove_files, write_files
from stores.orders.models import OrderItem
from stores.proofs.services.prints import PrintedFile


class PrintFileDamaged(DomainError):
    status = 500
    code = "print_file_damaged"
    title = "The stored print file is damaged"


class StoredPrint(NamedTuple):
    """A stored print file; `size` in bytes, the other fields as in `PrintedFile`. `name` is empty without a file."""

    name: str
    sha256: str
    size: int
    asset_ids: tuple[UUID, ...]
    messages: tuple[str, ...]
    preflight: Sequence[Mapping[str, Any]] = ()


def store_print_file(*, order_id: UUID, item_position: int, file: PrintedFile) -> StoredPrint:
    """Stores the file under a name that is never written again."""
    if not file.content:
        return StoredPrint("", "", 0, file.asset_ids, file.messages)
    name = f"{print_folder(order_id)}/{item_position}-{file.sha256[:16]}.pdf"
    with storage_errors():
        write_files([(name, file.content)])
    return StoredPrint(name, file.sha256, len(file.content), file.asset_ids, file.messages, file.preflight)


def erase_print_files(*, order_id: UUID) -> None:
    """Deletes all files in the order's folder; raises StorageUnavailable if some may remain."""
    folder = print_folder(order_id)
    with storage_errors():
        names = listed(folder)[1]
        for name in [*(f"{folder}/{name}" for name in names), folder]:
            default_storage.delete(name)


def delete_print_files(*, files: Iterable[StoredPrint | None]) -> None:
    """Deletes the files of an order that was not written."""
    remove_files({file.name for file in files if file is not None and file.name})


def read_print_file(*, item: OrderItem) -> bytes:
    """The content of the print file; raises PrintFileDamaged if it differs from the ordered one."""
    if not item.print_file and item.print_sha256:
        raise NotFound(
            "The print file was erased together with the address of its order.", code="print_file_erased"
        )
    if not item.print_file:
        raise NotFound(
            "This item has no print file: its product has no template.", code="print_file_not_found"
        )
    try:
        with storage_errors():
            content = read_file(item.print_file)
    except FileNotFoundError as error:
        raise PrintFileDamaged("The print file is missing from the file storage.") from error
    if hashlib.sha256(content).hexdigest() != item.print_sha256:
        raise PrintFileDamaged("The stored print file is not the one that was ordered.")
    return content
