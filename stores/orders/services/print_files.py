"""Print files of ordered items, stored before the order is written and never changed, and pictures of their pages.

Uploaded pictures and PDFs are kept as long as an order that prints them needs them.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple
from uuid import UUID

from django.core.files.storage import default_storage
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.callers import Caller
from fulfillment.core.db.prepared import execute
from fulfillment.core.errors import DomainError, NotFound
from fulfillment.core.files.storage import storage_errors
from fulfillment.core.files.stored import list_folder, read_file, remove_files, write_files
from printing.typesetting import count_pdf_pages, pdf_page_areas, render_pdf_page
from stores.concurrency_limits import RENDERINGS
from stores.orders.models import Order, OrderedAsset, OrderItem
from stores.proofs.models import Asset
from stores.proofs.selectors import assets_of_templates
from stores.proofs.services.assets import TOUCH_AFTER, remove_asset_files
from stores.proofs.services.print_rendering import PrintedFile
from stores.templates.selectors import typesetting_errors

PRINT_FILES = "print-files"
# Pixels, and whether bleed and crop marks are cropped. Pages are shown 800 wide, on screens twice as dense.
SIZES: dict[str, tuple[int, bool]] = {"small": (192, True), "large": (1600, False), "widest": (3000, False)}
# The order list requests one picture for each row at once.
WAIT_SECONDS = 8.0
# Locked, so that retention cannot remove them at the same time.
ORDERED = """
INSERT INTO stores_orderedasset (order_id, asset_id)
SELECT %s, id FROM stores_asset WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE
ON CONFLICT DO NOTHING
"""


class PrintFileDamaged(DomainError):
    status = 500
    code = "print_file_damaged"
    title = "The stored print file is damaged"


class StoredPrint(NamedTuple):
    """A stored print file; `size` in bytes, the other fields as in `PrintedFile`. `name` is empty without a file.

    `finishing` is that of the item that a reprint repeats.
    """

    name: str
    sha256: str
    size: int
    asset_ids: tuple[UUID, ...]
    messages: tuple[str, ...]
    preflight: Sequence[Mapping[str, Any]] = ()
    preset: Mapping[str, str] | None = None
    options: Mapping[str, str] | None = None
    finishing: Mapping[str, Any] | None = None


def print_folder(order_id: UUID) -> str:
    """Sharded by the last letters: the first ones are the time, the same for many."""
    return f"{PRINT_FILES}/{order_id.hex[-2:]}/{order_id}"


def store_print_file(*, order_id: UUID, item_position: int, file: PrintedFile) -> StoredPrint:
    """Stores the file under a name that is never written again."""
    if not file.content:
        return StoredPrint("", "", 0, file.asset_ids, file.messages, options=file.options)
    name = f"{print_folder(order_id)}/{item_position}-{file.sha256[:16]}.pdf"
    with storage_errors():
        write_files([(name, file.content)])
    stored = StoredPrint(name, file.sha256, len(file.content), file.asset_ids, file.messages)
    return stored._replace(preflight=file.preflight, preset=file.preset, options=file.options)


def erase_print_files(*, order_id: UUID) -> int:
    """Deletes the order's folder; returns how many files it had. Raises StorageUnavailable if some may remain."""
    folder = print_folder(order_id)
    with storage_errors():
        names = list_folder(folder)[1]
        for name in [*(f"{folder}/{name}" for name in names), folder]:
            default_storage.delete(name)
    return len(names)


def delete_print_files(*, files: Iterable[StoredPrint | None]) -> None:
    """Deletes the files of an order that was not written."""
    remove_files({file.name for file in files if file is not None and file.name})


def read_print_file(*, item: OrderItem) -> bytes:
    """The content of the print file; raises PrintFileDamaged if it differs from the ordered one."""
    if not item.print_file and item.print_sha256:
        raise NotFound(
            _("The print file was erased together with the address of its order."), code="print_file_erased"
        )
    if not item.print_file:
        raise NotFound(
            _("This item has no print file: its product has no template."), code="print_file_not_found"
        )
    try:
        with storage_errors():
            content = read_file(item.print_file)
    except FileNotFoundError as error:
        raise PrintFileDamaged("The print file is missing from the file storage.") from error
    if hashlib.sha256(content).hexdigest() != item.print_sha256:
        raise PrintFileDamaged("The stored print file is not the one that was ordered.")
    return content


Size = Literal["small", "large", "widest"]


def print_file_pages(*, item: OrderItem) -> list[tuple[float, float, float, float]]:
    """The area of each page in its picture: left, top, width and height in mm from the corner of the trim."""
    return pdf_page_areas(read_print_file(item=item))


def print_picture(*, item: OrderItem, page: int, size: Size, caller: Caller) -> bytes:
    """A PNG of the page with index `page`. Raises PrintFileDamaged, and NotFound for a missing page."""
    name = f"{item.print_file.removesuffix('.pdf')}-{size}-{page}.png"
    with suppress(FileNotFoundError), storage_errors():
        if item.print_file and default_storage.exists(name):
            return read_file(name)
    pixels, trimmed = SIZES[size]
    # The file is read in the slot as well: it may have 100 MB.
    with RENDERINGS.slot(caller.key, wait=WAIT_SECONDS):
        content = read_print_file(item=item)
        if page >= count_pdf_pages(content):
            raise NotFound(_("The print file has no such page."), code="page_not_found")
        with typesetting_errors():
            picture = render_pdf_page(content, page, pixels=pixels, trimmed=trimmed)
    _store_picture(item, name, picture)
    return picture


@transaction.atomic
def _store_picture(item: OrderItem, name: str, picture: bytes) -> None:
    """Locks the order, so that a picture written during an erasure is erased as well."""
    order = Order.objects.select_for_update(of=("self",), no_key=True).filter(pk=item.order_id)
    if order.filter(recipient_erased__isnull=True).exists():
        with storage_errors():
            write_files([(name, picture)])


@transaction.atomic(savepoint=False)
def record_ordered_assets(*, order_id: UUID, asset_ids: Collection[UUID]) -> None:
    """Ignores pictures that were removed since the print file was rendered: only the file is printed."""
    if asset_ids:
        execute(ORDERED, [order_id, list(asset_ids)])
        Asset.objects.filter(pk__in=asset_ids, is_ordered=False).update(is_ordered=True)


@transaction.atomic
def delete_ordered_assets(*, order: Order) -> None:
    """Deletes the pictures that are printed in this order only.

    A picture that was used later or is a template's default stays until retention removes it as unused.
    """
    uses = OrderedAsset.objects.filter(order=order)
    assets = Asset.objects.filter(pk__in=uses.values("asset"))
    locked = list(assets.order_by("pk").select_for_update())
    uses.delete()
    elsewhere = set(OrderedAsset.objects.filter(asset__in=locked).values_list("asset", flat=True))
    free = [asset for asset in locked if asset.pk not in elsewhere]
    Asset.objects.filter(pk__in=[asset.pk for asset in free]).update(is_ordered=False)
    template_assets = assets_of_templates() if free else set()
    removed = [
        asset
        for asset in free
        if asset.pk not in template_assets and asset.last_used < order.created + TOUCH_AFTER
    ]
    Asset.objects.filter(pk__in=[asset.pk for asset in removed]).delete()
    # The row first: retention removes a file that remains after a crash.
    transaction.on_commit(lambda: remove_asset_files(removed))
