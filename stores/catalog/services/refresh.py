"""Renders stored bodies again after changes outside of the products, in bulk."""

from collections.abc import Iterator, Sequence
from itertools import islice

from django.db import connection, transaction
from django.db.models import F

from fulfillment.core.db.copying import copy_rows
from fulfillment.core.db.locks import long_transaction, try_lock_until_commit
from fulfillment.core.errors import Conflict
from stores.catalog.models import Store
from stores.catalog.representations import render_product, render_store
from stores.catalog.selectors.products import StoredProduct, stored_products

BATCH = 500
CATALOG_LOCK = 7_306_410_001

STAGE = """
CREATE TEMPORARY TABLE IF NOT EXISTS staged_rendering (id bigint, rendering text, verbose_rendering text)
ON COMMIT DROP
"""
STAGED = ("id", "rendering", "verbose_rendering")
# Unchanged renderings are not written, as the audit trail would record an update.
APPLY = """
UPDATE stores_product product
SET rendering = staged.rendering, verbose_rendering = staged.verbose_rendering
FROM staged_rendering staged
WHERE product.id = staged.id
  AND (product.rendering, product.verbose_rendering) IS DISTINCT FROM (staged.rendering, staged.verbose_rendering)
"""


@long_transaction()
def refresh_renderings() -> int:
    """Renders every store and product again and returns the number of changed products."""
    begin_catalog_work()
    stores = list(Store.objects.select_for_update(no_key=True).order_by("pk"))
    changed = render_products_again(store_ids=[store.pk for store in stores])
    for store in stores:
        store.rendering, store.verbose_rendering = render_store(store)
    Store.objects.bulk_update(stores, ["rendering", "verbose_rendering"], batch_size=BATCH)
    Store.objects.update(catalog_version=F("catalog_version") + 1)
    return changed


@transaction.atomic
def render_products_again(*, store_ids: Sequence[int]) -> int:
    """The caller has locked the stores and raises their catalog version."""
    currencies = dict(Store.objects.filter(pk__in=store_ids).values_list("pk", "currency"))
    products = stored_products(store_ids=store_ids)
    changed = 0
    with connection.cursor() as cursor:
        cursor.execute(STAGE)
        while batch := list(islice(products, BATCH)):
            cursor.execute("TRUNCATE staged_rendering")
            copy_rows("staged_rendering", STAGED, _render_products(batch, currencies))
            cursor.execute(APPLY)
            changed += cursor.rowcount
    return changed


def begin_catalog_work() -> None:
    """Removes the time limits of ordinary requests, and raises Conflict while another import or refresh runs."""
    if not try_lock_until_commit(CATALOG_LOCK):
        raise Conflict(
            "Another import or refresh of the catalog is running. Wait until it has finished, then try again.",
            code="catalog_busy",
        )
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        # Without this setting the audit triggers catch an exception for each row, and each exception scans all
        # pending foreign key checks: a long transaction would take quadratic time.
        cursor.execute("SELECT set_config('pgtrigger.ignore', '{}', true)")
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def _render_products(
    batch: list[StoredProduct], currencies: dict[int, str]
) -> Iterator[tuple[int, str, str]]:
    for product in batch:
        rendering, verbose = render_product(
            product.record,
            currency=currencies[product.store_id],
            created=product.created,
            updated=product.updated,
        )
        yield product.pk, rendering, verbose
