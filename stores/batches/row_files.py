"""The rows of a batch as a file to download, and the file to fill in."""

from collections.abc import Iterator

from django.http import HttpResponse, StreamingHttpResponse

from accounts.callers import Caller
from fulfillment.core.files.downloads import MEDIA_TYPES, streamed_file
from stores.batches.files import writing
from stores.batches.files.records import FileRow
from stores.batches.files.writing import Format, annotated_file
from stores.batches.models import Batch, BatchRow
from stores.batches.selectors.rows import rows_of
from stores.batches.services.contact_sheets import template_columns
from stores.orders.models import OrderStatus

ROWS_AT_ONCE = 500
ANNOTATED_COLUMNS = ("RowKey", "State", "OrderID", "Order status", "Tracking")


def rows_file(batch: Batch, states: list[str], form: Format, caller: Caller) -> StreamingHttpResponse:
    """All rows in these states, with the problems, the order and its tracking beside the values."""
    columns = [*batch.columns, *(name for name in ANNOTATED_COLUMNS if name not in batch.columns)]
    pieces = annotated_file(format=form, columns=columns, rows=_annotated_rows(batch, states))
    return streamed_file(pieces, f"batch-{batch.pk}.{form}", caller.key)


def template_file(batch: Batch, form: Format) -> HttpResponse:
    """A file to fill in."""
    content = writing.template_file(format=form, columns=list(template_columns(batch)))
    response = HttpResponse(content, content_type=MEDIA_TYPES[form])
    response["Content-Disposition"] = f'attachment; filename="rows-{batch.product.external_id}.{form}"'
    return response


def _annotated_rows(batch: Batch, states: list[str]) -> Iterator[FileRow]:
    after = 0
    while page := list(rows_of(batch, states=states, after=after).select_related("order")[:ROWS_AT_ONCE]):
        yield from (_file_row(row) for row in page)
        after = page[-1].number


def _file_row(row: BatchRow) -> FileRow:
    order = row.order
    added = {
        "RowKey": row.key,
        "State": row.state,
        "OrderID": str(order.pk) if order else "",
        "Order status": OrderStatus(order.status).label if order else "",
        "Tracking": ", ".join(order.tracking_numbers) if order else "",
    }
    return FileRow(row.number, {**added, **row.values}, row.problems)
