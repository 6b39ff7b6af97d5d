"""Downloads of the order list: print files, packing slips, the list as CSV."""

from collections.abc import Iterable, Iterator
from itertools import chain

from django.db.models import QuerySet
from django.http import StreamingHttpResponse

from accounts.callers import Caller
from fulfillment.core.concurrency_limits import FILES
from fulfillment.core.csv_rows import BOM
from fulfillment.core.errors import DomainError
from fulfillment.core.files.downloads import ZipStream
from stores.orders.models import Order, OrderItem
from stores.orders.representations import csv_chunks
from stores.orders.services.print_files import read_print_file

BATCH = 1000


def csv_response(orders: QuerySet[Order], caller: Caller) -> StreamingHttpResponse:
    """Streams all orders of the list, newest first, in short statements, so memory use does not grow."""
    headers = {"Content-Disposition": 'attachment; filename="orders.csv"', "Cache-Control": "no-store"}
    return StreamingHttpResponse(
        FILES.stream(chain([BOM], csv_chunks(_renderings(orders))), caller.key),
        content_type="text/csv; charset=utf-8",
        headers=headers,
    )


def zip_response(items: Iterable[OrderItem], name: str, caller: Caller) -> StreamingHttpResponse:
    """Streams the print files as a zip; a text file in it lists those that cannot be read."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return StreamingHttpResponse(
        FILES.stream(_archive(items), caller.key), content_type="application/zip", headers=headers
    )


def print_file_name(item: OrderItem) -> str:
    key = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in item.item_key)
    return f"{item.order.number}-{item.position + 1}-{key}.pdf"


def _renderings(orders: QuerySet[Order]) -> Iterator[str]:
    rows = orders.select_related(None).order_by("-number")
    last = None
    while True:
        page = rows if last is None else rows.filter(number__lt=last)
        found = list(page.values_list("number", "rendering")[:BATCH])
        yield from (rendering for _, rendering in found)
        if len(found) < BATCH:
            return
        last = found[-1][0]


def _archive(items: Iterable[OrderItem]) -> Iterator[bytes]:
    archive = ZipStream()
    missing: list[str] = []
    for item in items:
        name = print_file_name(item)
        try:
            yield archive.add(name, read_print_file(item=item))
        except DomainError as error:
            missing.append(f"{name}: {error.message}")
    if missing:
        yield archive.add("missing.txt", "\n".join(missing) + "\n")
    yield archive.finish()
