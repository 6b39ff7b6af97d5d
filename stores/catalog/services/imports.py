"""Exports the catalog file of stores, as it was at one moment, and imports it.

An import is validated completely, all or nothing, in one transaction. Unchanged records are not written. Products
that the file does not contain stay as they are.
"""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pghistory
from django.db import connection, transaction
from django.utils import timezone

from fulfillment.core.db.locks import long_transaction
from fulfillment.core.errors import Fault, Invalid
from stores.catalog.catalog_file.reader import ProductRead, Readable, StoreRead, read_catalog
from stores.catalog.catalog_file.writer import write_catalog
from stores.catalog.models import Store
from stores.catalog.records.record_checks import check_product
from stores.catalog.records.value_checks import brief_json
from stores.catalog.selectors.products import catalog_of
from stores.catalog.services.products import end_of_catalog
from stores.catalog.services.refresh import begin_catalog_work
from stores.catalog.services.rows import CatalogEntry, CatalogRows
from stores.catalog.services.stores import lock_store, record_catalog_change, save_store
from stores.presets.selectors import unknown_presets
from stores.templates.services import TemplateChecks, same_template

BATCH = 1000
MAX_FAULTS = 1000
MAX_CHANGES = 200


def export_catalog(*, store_ids: Sequence[str] = ()) -> Iterator[bytes]:
    """Pieces of the file of these stores, or of all; a transaction stays open until the last piece is read."""
    nested = connection.in_atomic_block
    with transaction.atomic(), connection.cursor() as cursor:
        if not nested:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute("SET LOCAL statement_timeout = 0")
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        yield from write_catalog(catalog_of(store_ids))


@dataclass(frozen=True, slots=True)
class CatalogChange:
    """A change of a product, or of the store if `product_id` is empty: new, changed or reordered.

    `members` are the changed members.
    """

    kind: str
    store_id: str
    name: str
    product_id: str = ""
    members: tuple[str, ...] = ()


@dataclass
class ImportSummary:
    """`changes` holds the first MAX_CHANGES, in the order of the file. `catalog_versions` are those of the stores
    before their products are written: with other ones, an import may change what its check did not show.
    """

    stores_new: int = 0
    stores_changed: int = 0
    stores_same: int = 0
    products_new: int = 0
    products_changed: int = 0
    products_same: int = 0
    stores_reordered: int = 0
    changes: list[CatalogChange] = field(default_factory=list)
    catalog_versions: list[int] = field(default_factory=list)

    def note(self, change: CatalogChange) -> None:
        if len(self.changes) < MAX_CHANGES:
            self.changes.append(change)


class CatalogInvalid(Invalid):
    """`faults` holds the first MAX_FAULTS; `fault_count` is the number of all."""

    def __init__(self, faults: list[Fault], fault_count: int) -> None:
        message = faults[0].message if fault_count == 1 else f"The file has {fault_count:,} errors."
        super().__init__(f"{message} Nothing was imported.", code="catalog_invalid", faults=faults)
        self.fault_count = fault_count


@dataclass
class _StoreWork:
    """The store being read, and the order of its products in the file."""

    store: Store
    highest: int
    seen: set[str] = field(default_factory=set)
    order: array = field(default_factory=lambda: array("q"))
    batch: list[CatalogEntry] = field(default_factory=list)
    last: tuple[int, int] = (-1, 0)
    is_ordered: bool = True
    is_changed: bool = False


def import_catalog(
    *,
    source: Readable,
    dry_run: bool = False,
    only_store: str | None = None,
    check_templates: bool = True,
) -> ImportSummary:
    """Imports a plain JSON stream; with `dry_run` everything is done and then rolled back.

    With `only_store`, a StoreID, the file may contain no other store. Without `check_templates` no template is
    rendered: only for those that ship with the service, whose tests do it.
    """
    with long_transaction(), pghistory.context(source="import_catalog"):
        summary = _Import(only_store, check_templates=check_templates).run(source)
        if dry_run:
            transaction.set_rollback(True)
    return summary


class _Import:
    def __init__(self, only_store: str | None, *, check_templates: bool) -> None:
        self.only_store = only_store
        self.check_templates = check_templates
        self.summary = ImportSummary()
        self.rows = CatalogRows(timezone.now())
        self.templates = TemplateChecks()
        self.faults: list[Fault] = []
        self.fault_count = 0
        self.store_ids: set[str] = set()
        self.work: _StoreWork | None = None

    def run(self, source: Readable) -> ImportSummary:
        begin_catalog_work()
        self.rows.prepare()
        for entry in self._entries(source):
            if isinstance(entry, StoreRead):
                self._finish_store()
                self._begin_store(entry)
            else:
                self._read_product(entry)
        self._finish_store()
        if self.fault_count:
            raise CatalogInvalid(self.faults, self.fault_count)
        return self.summary

    def _entries(self, source: Readable) -> Iterator[StoreRead | ProductRead]:
        """Stops where the file becomes unreadable, so that the faults before it are reported as well."""
        try:
            yield from read_catalog(source)
        except Invalid as error:
            self._note(list(error.faults))

    def _note(self, faults: list[Fault]) -> None:
        self.fault_count += len(faults)
        self.faults.extend(faults[: max(0, MAX_FAULTS - len(self.faults))])

    def _begin_store(self, entry: StoreRead) -> None:
        self.work = None
        store_id = entry.value.get("StoreID") if isinstance(entry.value, dict) else None
        if isinstance(store_id, str) and store_id in self.store_ids:
            message = f"StoreID: {store_id} appears twice in the file."
            self._note([Fault(f"{entry.pointer}/StoreID", "repeated", message)])
            return
        if self.only_store is not None and store_id != self.only_store:
            message = f"StoreID: this import accepts only {self.only_store}; found {brief_json(store_id)}."
            self._note([Fault(f"{entry.pointer}/StoreID", "other_store", message)])
            return
        try:
            saved = save_store(values=entry.value, pointer=entry.pointer)
        except Invalid as error:
            self._note(list(error.faults))
            return
        self.store_ids.add(saved.store.external_id)
        self.summary.catalog_versions.append(saved.store.catalog_version)
        kind = "new" if saved.is_new else "changed" if saved.is_changed else "same"
        setattr(self.summary, f"stores_{kind}", getattr(self.summary, f"stores_{kind}") + 1)
        if kind != "same":
            self.summary.note(CatalogChange(kind, saved.store.external_id, saved.store.company_name))
        store = lock_store(saved.store.pk)
        self.work = _StoreWork(store, end_of_catalog(store) - 1)

    def _read_product(self, entry: ProductRead) -> None:
        record, faults = check_product(entry.value, entry.pointer)
        work = self.work
        if not faults and work is not None and record["ID"] in work.seen:
            message = f"ID: {record['ID']} appears twice in this store."
            faults = [Fault(f"{entry.pointer}/ID", "repeated", message)]
        if faults:
            self._note(faults)
            return
        if work is None:
            self._note(self.templates.faults(record, entry.pointer))
            return
        work.seen.add(record["ID"])
        work.batch.append(CatalogEntry(record, pointer=entry.pointer))
        if len(work.batch) >= BATCH:
            self._write_batch(work)

    def _write_batch(self, work: _StoreWork) -> None:
        """Writes the new and changed products, in the order of the file."""
        self.rows.look_up(work.store, work.batch)
        self._check_presets(work.batch)
        self._check_templates(work.batch)
        if self.fault_count:  # nothing will be written: the rest is only checked
            work.batch.clear()
            return
        for entry in work.batch:
            entry.position = _position_for(work, entry)
            work.order.append(entry.pk)
        new, changed = self.rows.write(work.store, work.batch)
        self._note_changes(work)
        self.summary.products_new += new
        self.summary.products_changed += changed
        self.summary.products_same += len(work.batch) - new - changed
        work.is_changed = work.is_changed or new + changed > 0
        work.batch.clear()

    def _note_changes(self, work: _StoreWork) -> None:
        """Comparing member by member is slow, so it stops at MAX_CHANGES."""
        for entry in work.batch:
            if len(self.summary.changes) >= MAX_CHANGES:
                return
            names = (work.store.external_id, entry.record["Name"], entry.record["ID"])
            if entry.stored is None:
                self.summary.note(CatalogChange("new", *names))
            elif entry.is_changed:
                self.summary.note(CatalogChange("changed", *names, entry.members))

    def _check_presets(self, batch: list[CatalogEntry]) -> None:
        unknown = unknown_presets(entry.record["Preset"] for entry in batch)
        for entry in batch:
            if (code := entry.record["Preset"]) in unknown:
                message = f"Preset: there is no print preset {code}."
                self._note([Fault(f"{entry.pointer}/Preset", "unknown_preset", message)])

    def _check_templates(self, batch: list[CatalogEntry]) -> None:
        """Checks new and changed templates only: one check takes longer than writing a hundred products."""
        for entry in batch if self.check_templates else ():
            if entry.stored is None or not same_template(entry.record, entry.stored.record):
                self._note(self.templates.faults(entry.record, entry.pointer))

    def _finish_store(self) -> None:
        work = self.work
        if work is None:
            return
        if work.batch:
            self._write_batch(work)
        if self.fault_count:
            return
        if not work.is_ordered and self.rows.set_order(work.order):
            self.summary.stores_reordered += 1
            names = (work.store.external_id, work.store.company_name)
            self.summary.note(CatalogChange("reordered", *names))
        if work.is_changed or not work.is_ordered:
            record_catalog_change(work.store)


def _position_for(work: _StoreWork, entry: CatalogEntry) -> int:
    """Keeps every position while the file has the same order; otherwise `_finish_store` numbers all again.

    A new product shares the position of the one before it and is sorted behind it by its higher primary key.
    """
    if entry.stored is not None:
        position = entry.stored.position
    else:
        position = max(work.last[0], 0)
        if work.last[0] >= work.highest:
            position = work.highest = work.last[0] + 1
    key = (position, entry.pk)
    work.is_ordered = work.is_ordered and key > work.last
    work.last = key
    return position
