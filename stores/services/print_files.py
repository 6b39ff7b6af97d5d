"""Print-ready files of ordered items: rendered before the order is written, frozen with their hash."""

import hashlib
from collections.abc import Sequence
from uuid import UUID

from django.core.files.storage import default_storage

from fulfillment.errors import DomainError, NotFound
from stores.files import listed, print_folder, read_file, remove_files, storage_at_work, write_files
from stores.models import OrderItem
from stores.services.prints import PrintedFile


class PrintFileDamaged(DomainError):
    status = 500
    code = "print_file_damaged"
    title = "The stored print file is damaged"


def keep_print_file(*, order_id: UUID, item_position: int, file: PrintedFile) -> str:
    """Stores the file and returns its name in the storage; nobody writes to that name again."""
    name = f"{print_folder(order_id)}/{item_position}-{file.sha256[:16]}.pdf"
    with storage_at_work():
        write_files([(name, file.content)])
    return name


def erase_print_files(*, order_id: UUID) -> None:
    """Whatever is in the order's folder; raises StorageUnavailable when it may still be there."""
    folder = print_folder(order_id)
    with storage_at_work():
        names = listed(folder)[1]
        for name in [*(f"{folder}/{name}" for name in names), folder]:
            default_storage.delete(name)


def drop_print_files(*, names: Sequence[str]) -> None:
    """For files of an order that was not written after all."""
    remove_files(names)


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
        with storage_at_work():
            content = read_file(item.print_file)
    except FileNotFoundError as error:
        raise PrintFileDamaged("The print file is missing from the file storage.") from error
    if hashlib.sha256(content).hexdigest() != item.print_sha256:
        raise PrintFileDamaged("The stored print file is not the one that was ordered.")
    return content
