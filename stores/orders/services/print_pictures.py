"""Pictures of the pages of print files, rendered once and stored beside the file."""

from contextlib import suppress
from typing import Literal

from django.core.files.storage import default_storage
from django.db import transaction

from accounts.callers import Caller
from fulfillment.core.errors import NotFound
from fulfillment.core.files.storage import storage_errors
from fulfillment.core.files.stored import read_file, write_files
from printing.typesetting import count_pdf_pages, pdf_page_areas, render_pdf_page
from stores.concurrency_limits import RENDERINGS
from stores.orders.models import Order, OrderItem
from stores.orders.services.print_files import read_print_file
from stores.templates.errors import typesetting_errors

Size = Literal["small", "large"]
# Size in pixels, and whether bleed and crop marks are cropped.
SIZES: dict[str, tuple[int, bool]] = {"small": (192, True), "large": (1100, False)}
# The order list requests one picture for each row at once.
WAIT_SECONDS = 8.0


def print_file_pages(*, item: OrderItem) -> list[tuple[float, float, float, float]]:
    """The area of each page in its picture: left, top, width and height in mm from the corner of the trim."""
    return pdf_page_areas(read_print_file(item=item))


def print_picture(*, item: OrderItem, page: int, size: Size, caller: Caller) -> bytes:
    """A PNG of the page with index `page`. Raises PrintFileDamaged, and NotFound for a missing page."""
    name = f"{item.print_file.removesuffix('.pdf')}-{size}-{page}.png"
    with suppress(FileNotFoundError), storage_errors():
        if item.print_file and default_storage.exists(name):
            return read_file(name)
    content = read_print_file(item=item)
    if page >= count_pdf_pages(content):
        raise NotFound("The print file has no such page.", code="page_not_found")
    pixels, trimmed = SIZES[size]
    with RENDERINGS.limited(caller.key, wait=WAIT_SECONDS), typesetting_errors():
        picture = render_pdf_page(content, page, pixels=pixels, trimmed=trimmed)
    _store(item, name, picture)
    return picture


@transaction.atomic
def _store(item: OrderItem, name: str, picture: bytes) -> None:
    """Locks the order, so that a picture written during an erasure is erased as well."""
    order = Order.objects.select_for_update(of=("self",), no_key=True).filter(pk=item.order_id)
    if order.filter(recipient_erased__isnull=True).exists():
        with storage_errors():
            write_files([(name, picture)])
