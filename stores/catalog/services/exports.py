"""The catalog file of stores, as it was at one moment."""

from collections.abc import Iterator, Sequence

from django.db import connection, transaction

from stores.catalog.selectors.catalog import catalog_of
from stores.catalog.writer import write_catalog


def export_catalog(*, store_ids: Sequence[str] = ()) -> Iterator[bytes]:
    """Pieces of the file of these stores, or of all; a transaction stays open until the last piece is read."""
    nested = connection.in_atomic_block
    with transaction.atomic(), connection.cursor() as cursor:
        if not nested:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute("SET LOCAL statement_timeout = 0")
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        yield from write_catalog(catalog_of(store_ids))
