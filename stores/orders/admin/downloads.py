"""Downloads of the order list: print files, packing slips, the list as CSV."""

import zipfile
from collections.abc import Iterable, Iterator

from django.db.models import QuerySet
from django.http import StreamingHttpResponse

from accounts.callers import Caller
from fulfillment.core.errors import DomainError
from fulfillment.core.lanes import FILES
from stores.orders.csv_rows import csv_chunks
from stores.orders.models import Order, OrderItem
from stores.orders.services.print_files import read_print_file

BATCH = 1000


def csv_answer(orders: QuerySet[Order], caller: Caller) -> StreamingHttpResponse:
    """Streams all orders of the list, newest first, in short statements, so memory use does not grow."""
    headers = {"Content-Disposition": 'attachment; filename="orders.csv"', "Cache-Control": "no-store"}
    return StreamingHttpResponse(
        FILES.stream(csv_chunks(_renderings(orders)), caller.key),
        content_type="text/csv; charset=utf-8",
        headers=headers,
    )


def zip_answer(items: Iterable[OrderItem], name: str, caller: Caller) -> StreamingHttpResponse:
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


class _Spool(list[bytes]):
    """A buffer for zipfile: collects pieces until they are sent."""

    def write(self, piece: bytes, /) -> int:
        self.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        """Nothing is held back."""

    close = flush

    def taken(self) -> bytes:
        content = b"".join(self)
        self.clear()
        return content


def _archive(items: Iterable[OrderItem]) -> Iterator[bytes]:
    spool = _Spool()
    missing: list[str] = []
    # PDF is compressed already.
    with zipfile.ZipFile(spool, "w", zipfile.ZIP_STORED) as archive:
        for item in items:
            try:
                archive.writestr(print_file_name(item), read_print_file(item=item))
            except DomainError as error:
                missing.append(f"{print_file_name(item)}: {error.message}")
            yield spool.taken()
        if missing:
            archive.writestr("missing.txt", "\n".join(missing) + "\n")
    yield spool.taken()
