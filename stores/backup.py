"""Stored files that rows refer to, except those that can be rendered again, and the numbers of orders."""

from collections.abc import Iterable, Iterator
from pathlib import PurePath

from django.core.files.storage import default_storage

from fulfillment.core.db.prepared import skip_numbers
from fulfillment.core.files.stored import DOCUMENTS, asset_file, document_file
from stores.orders.models import OrderItem
from stores.proofs.models import Asset, AssetFormat
from stores.proofs.services.asset_files import remove_document
from stores.templates.models import Font
from stores.templates.selectors import font_file

# Proofs are rendered again on request, and stores with equal templates share them.
RENDERED_AGAIN = ("stores.Proof",)


def named_files() -> Iterator[str]:
    yield from (font_file(font) for font in Font.objects.all())
    pictures = Asset.objects.exclude(format=AssetFormat.PDF).values_list("pk", "format")
    yield from (asset_file(*row) for row in pictures.iterator())
    documents = Asset.objects.filter(format=AssetFormat.PDF).values_list("sha256", flat=True)
    yield from (document_file(sha256) for sha256 in documents.distinct().iterator())
    with_plates = Asset.objects.exclude(plates="").values_list("pk", "plates")
    yield from (asset_file(*row) for row in with_plates.iterator())
    # Items with equal data share one print file.
    printed = OrderItem.objects.exclude(print_file="").values_list("print_file", flat=True)
    yield from printed.order_by().distinct().iterator()


def remove_unnamed(names: Iterable[str]) -> None:
    """Removes files of a failed restore. A request may just share one: a PDF has a lock for that, and a font stays."""
    for name in names:
        kind = PurePath(name).parts[0]
        if kind == DOCUMENTS:
            remove_document(sha256=PurePath(name).stem)
        elif kind != "fonts" and default_storage.exists(name):
            default_storage.delete(name)


def skip_used_numbers() -> Iterator[str]:
    """A print provider takes a known number for a job that it has, and its report would move another order."""
    number = skip_numbers("stores_order_number")
    yield f"New orders begin at number {number}: earlier numbers may have been given."
