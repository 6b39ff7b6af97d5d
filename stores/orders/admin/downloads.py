"""Downloads of the order list: print files and their pages, and the list as CSV."""

from collections.abc import Iterable, Iterator
from itertools import chain

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404

from accounts.callers import Caller
from fulfillment.core.csv_rows import BOM
from fulfillment.core.errors import DomainError
from fulfillment.core.files.downloads import ZipStream, picture_response, streamed_file
from fulfillment.core.recorded_texts import translated
from stores.orders.models import Order, OrderItem
from stores.orders.representations import csv_chunks
from stores.orders.services.print_files import SIZES, print_picture, read_print_file

BATCH = 1000


def csv_response(orders: QuerySet[Order], caller: Caller) -> StreamingHttpResponse:
    """Streams all orders of the list, newest first, in short statements, so memory use does not grow."""
    return streamed_file(chain([BOM], csv_chunks(_read_renderings(orders))), "orders.csv", caller.key)


def picture_of_item(request: HttpRequest, order: Order, position: int, page: int, size: str) -> HttpResponse:
    """A page of the item's print file, for those who see the order."""
    if size not in SIZES:
        raise Http404
    item = get_object_or_404(OrderItem.objects.select_related("order"), order=order, position=position)
    caller = Caller.on_pages(request.user)
    return picture_response(
        lambda: print_picture(item=item, page=page, size=size, caller=caller)  # type: ignore[arg-type]  # one of SIZES
    )


def print_file_name(item: OrderItem) -> str:
    key = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in item.item_key)
    return f"{item.order.number}-{item.position + 1}-{key}.pdf"


def _read_renderings(orders: QuerySet[Order]) -> Iterator[str]:
    rows = orders.select_related(None).order_by("-number")
    last = None
    while True:
        page = rows if last is None else rows.filter(number__lt=last)
        numbered = list(page.values_list("number", "rendering")[:BATCH])
        yield from (rendering for _, rendering in numbered)
        if len(numbered) < BATCH:
            return
        last = numbered[-1][0]


def zip_print_files(items: Iterable[OrderItem]) -> Iterator[bytes]:
    """The pieces of a zip of the print files; a text file in it lists those that cannot be read."""
    archive = ZipStream()
    missing: list[str] = []
    for item in items:
        name = print_file_name(item)
        try:
            yield from archive.add(name, read_print_file(item=item))
        except DomainError as error:
            missing.append(f"{name}: {translated(error.message)}")
    if missing:
        yield from archive.add("missing.txt", "\n".join(missing) + "\n")
    yield from archive.finish()
