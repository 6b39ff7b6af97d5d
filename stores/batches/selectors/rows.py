"""The rows of a batch page by page, their proofs, and the orders that they became."""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple
from uuid import UUID

from django.db.models import F, Func, IntegerField, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils.translation import gettext as _

from fulfillment.core.db.prepared import fetch_rows
from fulfillment.core.errors import NotFound
from stores.batches.models import Batch, BatchMode, BatchRow, RowState
from stores.batches.row_contents import fold_text, item_key_of
from stores.orders.models import Order
from stores.proofs.models import Proof
from stores.proofs.selectors import StoredProof

WITH_PROBLEMS = (RowState.ERROR, RowState.FAILED, RowState.WARNING)
# A page of rows ends before it exceeds this size, even if it has fewer than `take` rows.
PAGE_BYTES = 4_000_000
# As stored, compressed.
LONG_PAGE_BYTES = 100_000
ROWS_OF_ORDER = """
SELECT own.batch_id, batch.mode, own.key, own.number
FROM stores_batchrow own JOIN stores_batch batch ON batch.id = own.batch_id
WHERE own.order_id = %s ORDER BY own.number
"""


def rows_of(
    batch: Batch, *, states: Iterable[str] = (), after: int = 0, words: str = ""
) -> QuerySet[BatchRow]:
    """Rows in the order of the file, after a number: in one of `states`, and with `words` in a cell or the key."""
    rows = batch.rows.filter(number__gt=after).order_by("number")
    if words:
        rows = rows.filter(words__contains=fold_text(words))
    state_list = list(states)
    return rows.filter(state__in=state_list) if state_list else rows


def page_of_rows(rows: QuerySet[BatchRow], *, take: int) -> tuple[list[BatchRow], bool]:
    """Up to `take` of the rows, at least one and at most PAGE_BYTES, and whether more follow."""
    sizes = list(rows.values_list(_octets("values") + _octets("problems"), flat=True)[: take + 1])
    fits = max(1, bisect_right(list(accumulate(sizes)), PAGE_BYTES))
    count = min(take, fits)
    return list(rows[:count]), len(sizes) > count


def is_long_page(rows: QuerySet[BatchRow], *, take: int) -> bool:
    """Whether the rows of the page are long, which PostgreSQL knows without reading them."""
    size = Func(F("values"), function="pg_column_size", output_field=IntegerField())
    problems = Func(F("problems"), function="pg_column_size", output_field=IntegerField())
    return sum(rows.values_list(size + problems, flat=True)[:take]) > LONG_PAGE_BYTES


def _octets(column: str) -> Func:
    return Func(Cast(F(column), TextField()), function="octet_length", output_field=IntegerField())


def row_of(batch: Batch, row_key: str, *, locked: bool = False) -> BatchRow:
    rows = batch.rows.select_for_update(of=("self",)) if locked else batch.rows
    row = rows.filter(key=row_key).first()
    if row is None:
        raise NotFound(_("The batch has no row with this RowKey."), code="row_not_found")
    return row


class RowOfOrder(NamedTuple):
    batch_id: UUID
    key: str
    item_key: str
    is_whole_order: bool


def rows_of_order(order: Order) -> list[RowOfOrder]:
    """The rows that became the order; none if it was placed on its own."""
    return [
        RowOfOrder(batch_id, key, item_key_of(key, number), mode == BatchMode.RECIPIENTS)
        for batch_id, mode, key, number in fetch_rows(ROWS_OF_ORDER, (order.pk,))
    ]


def proofs_of(rows: Iterable[BatchRow]) -> dict[str, StoredProof]:
    """The stored proofs of these rows by digest; those that retention removed are missing."""
    digests = {row.proof for row in rows if row.proof}
    proofs = Proof.objects.filter(digest__in=digests)
    return {
        proof.digest: StoredProof(
            proof.digest, proof.sizes, proof.messages, proof.last_used, preflight=proof.preflight or ()
        )
        for proof in proofs
    }


def page_counts(digests: Iterable[str]) -> dict[str, int]:
    """The numbers of pages of stored proofs, by digest."""
    # The first of the sizes is the PDF's.
    sizes = Proof.objects.filter(digest__in=set(digests)).values_list("digest", "sizes__len")
    return {digest: size - 1 for digest, size in sizes}


def pdf_sizes(digests: Iterable[str]) -> dict[str, int]:
    """The bytes of the PDFs of stored proofs, by digest."""
    return dict(Proof.objects.filter(digest__in=set(digests)).values_list("digest", "sizes__0"))
