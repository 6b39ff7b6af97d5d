"""Writes products in bulk: COPY for new ones, a staging table and one UPDATE for changed ones."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from django.db import connection

from fulfillment.core.db.copying import copy_rows
from fulfillment.core.text import JsonObject
from stores.catalog.models import Store
from stores.catalog.records.field_specs import (
    DELIVERED_PRICE_FIELDS,
    PRODUCTION_SPEED_FIELDS,
    STORED_PRODUCT_FIELDS,
    TEMPLATE_FIELD_FIELDS,
    FieldSpec,
)
from stores.catalog.records.record_checks import price_key
from stores.catalog.representations import render_product
from stores.catalog.selectors.products import StoredProduct, stored_products_by_id
from stores.templates.records import fingerprint

*PLAIN, TEMPLATE = STORED_PRODUCT_FIELDS
RECORD_COLUMNS = [spec.column for spec in STORED_PRODUCT_FIELDS]
WRITTEN = ["position", *RECORD_COLUMNS, "updated", "rendering", "verbose_rendering"]
PRODUCT_COLUMNS = ["id", "store_id", "version", "created", *WRITTEN]
CHILDREN: list[tuple[str, str, tuple[FieldSpec, ...]]] = [
    ("TemplateFields", "stores_templatefield", TEMPLATE_FIELD_FIELDS),
    ("DeliveredPrices", "stores_deliveredprice", DELIVERED_PRICE_FIELDS),
    ("ProductionSpeeds", "stores_productionspeed", PRODUCTION_SPEED_FIELDS),
]

FIELD_NAMES = [
    *(spec.name for spec in PLAIN),
    *(name for name, _, _ in CHILDREN),
    TEMPLATE.name,
]

PREPARE = f"""
CREATE TEMPORARY TABLE IF NOT EXISTS staged_product ON COMMIT DROP AS
    SELECT id, {", ".join(WRITTEN)} FROM stores_product WITH NO DATA;
CREATE TEMPORARY TABLE IF NOT EXISTS staged_position (id bigint, position integer) ON COMMIT DROP;
TRUNCATE staged_product, staged_position
"""  # noqa: S608 - constant names
# The template is by far the largest value of a product; an unchanged one is not sent again.
WITHOUT_TEMPLATE = [name for name in WRITTEN if name != TEMPLATE.column]
SET_ORDER = """
UPDATE stores_product product SET position = staged.position FROM staged_position staged
WHERE product.id = staged.id AND product.position <> staged.position
"""
NEW_IDS = "SELECT nextval(pg_get_serial_sequence('stores_product', 'id')) FROM generate_series(1, %s)"


@dataclass(slots=True)
class CatalogEntry:
    """A product at `pointer` in the file.

    `stored` is the product in the database with the same ID; `parts` names the children to write, and the template.
    """

    record: JsonObject
    stored: StoredProduct | None = None
    pk: int = 0
    position: int = 0
    parts: tuple[str, ...] = (*(name for name, _, _ in CHILDREN), TEMPLATE.name)
    pointer: str = ""
    is_changed: bool = False

    @property
    def members(self) -> tuple[str, ...]:
        """The fields that differ from the stored product."""
        stored = self.stored.record if self.stored else {}
        return tuple(
            name for name in FIELD_NAMES if fingerprint(self.record[name]) != fingerprint(stored.get(name))
        )


class CatalogRows:
    def __init__(self, now: datetime) -> None:
        self.now = now

    def prepare(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(PREPARE)

    def look_up(self, store: Store, batch: list[CatalogEntry]) -> None:
        """Reads the stored products, and gives new ones primary keys that rise in the order of the file."""
        stored = stored_products_by_id(store.pk, [entry.record["ID"] for entry in batch])
        for entry in batch:
            entry.stored = stored.get(entry.record["ID"])
        self.set_keys(batch)

    def set_keys(self, batch: list[CatalogEntry]) -> None:
        new = [entry for entry in batch if entry.stored is None]
        with connection.cursor() as cursor:
            cursor.execute(NEW_IDS, [len(new)])
            for entry, (pk,) in zip(new, cursor.fetchall(), strict=True):
                entry.pk = pk
        for entry in batch:
            if entry.stored is not None:
                entry.pk = entry.stored.pk

    def write(self, store: Store, batch: list[CatalogEntry]) -> tuple[int, int]:
        """Returns the numbers of new and of changed products."""
        new = [entry for entry in batch if entry.stored is None]
        changed = [
            entry for entry in batch if entry.stored is not None and self._is_changed(entry, entry.stored)
        ]
        if new:
            for entry in new:
                carry_over_price_dates(entry.record, [], created=self.now, now=self.now)
            copy_rows("stores_product", PRODUCT_COLUMNS, self._product_rows(store, new, PRODUCT_COLUMNS))
        if changed:
            self._change(store, changed)
        for name, table, specs in CHILDREN:
            columns = ["product_id", "position", *(spec.column for spec in specs)]
            copy_rows(table, columns, self._child_rows((*new, *changed), name, specs))
        return len(new), len(changed)

    def set_order(self, order: array) -> bool:
        """Returns whether any product has moved."""
        with connection.cursor() as cursor:
            copy_rows(
                "staged_position", ["id", "position"], ((pk, position) for position, pk in enumerate(order))
            )
            cursor.execute(SET_ORDER)
            moved: int = cursor.rowcount
            cursor.execute("TRUNCATE staged_position")
        return moved > 0

    def _is_changed(self, entry: CatalogEntry, stored: StoredProduct) -> bool:
        record, previous = entry.record, stored.record
        carry_over_price_dates(record, previous["DeliveredPrices"], created=stored.created, now=self.now)
        if fingerprint(record) == fingerprint(previous):
            return False
        entry.parts = tuple(
            name for name in entry.parts if fingerprint(record[name]) != fingerprint(previous[name])
        )
        entry.is_changed = True
        return True

    def _change(self, store: Store, changed: Sequence[CatalogEntry]) -> None:
        with_template = [entry for entry in changed if TEMPLATE.name in entry.parts]
        without_template = [entry for entry in changed if TEMPLATE.name not in entry.parts]
        with connection.cursor() as cursor:
            for columns, entries in ((WRITTEN, with_template), (WITHOUT_TEMPLATE, without_template)):
                if entries:
                    staged = ["id", *columns]
                    copy_rows("staged_product", staged, self._product_rows(store, entries, staged))
                    cursor.execute(_change_of(columns))
                    cursor.execute("TRUNCATE staged_product")
            for name, table, _ in CHILDREN:
                pks = [entry.pk for entry in changed if name in entry.parts]
                cursor.execute(f"DELETE FROM {table} WHERE product_id = ANY(%s)", [pks])  # noqa: S608

    def _product_rows(
        self, store: Store, entries: Iterable[CatalogEntry], columns: Sequence[str]
    ) -> Iterator[list[Any]]:
        for entry in entries:
            record, created = entry.record, self._creation_time(entry)
            rendering, verbose_rendering = render_product(
                record, currency=store.currency, created=created, updated=self.now
            )
            values = {
                "id": entry.pk,
                "store_id": store.pk,
                "version": 1,
                "created": created,
                "position": entry.position,
                **{spec.column: record[spec.name] for spec in PLAIN},
                "updated": self.now,
                "rendering": rendering,
                "verbose_rendering": verbose_rendering,
            }
            if TEMPLATE.column in columns:
                template = record[TEMPLATE.name]
                values[TEMPLATE.column] = None if template is None else orjson.dumps(template).decode()
            yield [values[name] for name in columns]

    def _child_rows(
        self, entries: Iterable[CatalogEntry], name: str, specs: tuple[FieldSpec, ...]
    ) -> Iterator[list[Any]]:
        for entry in entries:
            for position, child in enumerate(entry.record[name] if name in entry.parts else ()):
                values = {spec.name: child[spec.name] for spec in specs}
                if name == "DeliveredPrices" and values["Created"] is None:
                    values["Created"] = self._creation_time(entry)
                elif name == "TemplateFields":
                    values["Choices"] = list(values["Choices"])
                yield [entry.pk, position, *values.values()]

    def _creation_time(self, entry: CatalogEntry) -> datetime:
        return self.now if entry.stored is None else entry.stored.created


def carry_over_price_dates(
    record: JsonObject, stored_prices: list[JsonObject], *, created: datetime, now: datetime
) -> None:
    """An existing price keeps its date and a new one gets `now`; a date in the record itself takes precedence."""
    dates = {price_key(price): price["Created"] for price in stored_prices}
    for price in record["DeliveredPrices"]:
        if price["Created"] is None:
            price["Created"] = dates.get(price_key(price), now)
        elif price["Created"] == created:
            price["Created"] = None  # None means the creation date of the product


def _change_of(columns: Sequence[str]) -> str:
    values = ", ".join(f"{name} = staged.{name}" for name in columns)
    return (
        f"UPDATE stores_product product SET version = product.version + 1, {values} "  # noqa: S608 - constant names
        "FROM staged_product staged WHERE product.id = staged.id"
    )
