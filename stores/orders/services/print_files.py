"""Print-ready files of ordered items: rendered before the order is written, frozen with their hash."""

import hashlib
from collections.abc import Iterable
from typing import NamedTuple
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
    """A print file in the storage; `size` in bytes, the rest as of `PrintedFile`. Without a file, no name."""

    name: str
    sha256: str
    size: int
    asset_ids: tuple[UUID, ...]
    messages: tuple[str, ...]


def keep_print_file(*, order_id: UUID, item_position: int, file: PrintedFile) -> StoredPrint:
    """Stores the file under a name that nobody writes to again."""
    if not file.content:
        return StoredPrint("", "", 0, file.asset_ids, file.messages)
    name = f"{print_folder(order_id)}/{item_position}-{file.sha256[:16]}.pdf"
    with storage_errors():
        write_files([(name, file.content)])
    return StoredPrint(name, file.sha256, len(file.content), file.asset_ids, file.messages)


def erase_print_files(*, order_id: UUID) -> None:
    """Whatever is in the order's folder; raises StorageUnavailable when it may still be there."""
    folder = print_folder(order_id)
    with storage_errors():
        names = listed(folder)[1]
        for name in [*(f"{folder}/{name}" for name in names), folder]:
            default_storage.delete(name)


def drop_print_files(*, files: Iterable[StoredPrint | None]) -> None:
    """For files of an order that was not written after all."""
    remove_files({file.name for file in files if file is not None and file.name})


def read_print_file(*, item: OrderItem) -> bytes:
    """The frozen file; refuses to hand out anything but what was ordered."""
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
