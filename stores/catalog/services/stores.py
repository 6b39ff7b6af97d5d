from collections.abc import Mapping
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from fulfillment.core.errors import Fault, Invalid
from stores.catalog.models import Product, Store
from stores.catalog.records import STORE, check_store
from stores.catalog.representations import render_store
from stores.catalog.selectors.catalog import store_record
from stores.catalog.services.refresh import render_products_again
from stores.templates.records import Record


class SavedStore(NamedTuple):
    store: Store
    is_new: bool
    is_changed: bool


@transaction.atomic
def save_store(*, values: Mapping[str, Any], store: Store | None = None, pointer: str = "") -> SavedStore:
    """Creates or updates a store, found by its StoreID unless `store` is given; an unchanged one is not written."""
    record, faults = check_store(values, pointer)
    if faults:
        raise invalid("The store cannot be saved.", faults)
    current = _locked(record, store)
    faults = _clashes(record, current, pointer)
    if faults:
        raise invalid("The store cannot be saved.", faults)
    if current is not None and store_record(current) == _comparable(record):
        return SavedStore(current, is_new=False, is_changed=False)
    saved = current or Store()
    currency_changed = current is not None and current.currency != record["Currency"]
    for member in STORE:
        setattr(saved, member.column, _comparable(record)[member.name])
    saved.updated = timezone.now()
    saved.catalog_version += 1
    saved.rendering, saved.verbose_rendering = render_store(
        record, product_count=saved.product_count, created=saved.created, updated=saved.updated
    )
    saved.save()
    if currency_changed:
        render_products_again(store_ids=[saved.pk])
    return SavedStore(saved, is_new=current is None, is_changed=True)


def find_store_faults(*, values: Mapping[str, Any], store: Store | None) -> list[Fault]:
    """The faults `save_store` would raise, for a form that shows all at once."""
    record, faults = check_store(values)
    return faults or _clashes(record, store, "")


def lock_store(store_id: int) -> Store:
    """Lets one transaction at a time change a catalog; readers and rows that refer to the store do not wait."""
    return Store.objects.select_for_update(no_key=True).get(pk=store_id)


def record_catalog_change(store: Store) -> None:
    """Raises the catalog version and updates the product count; call it in the transaction that changes products."""
    Store.objects.filter(pk=store.pk).update(catalog_version=F("catalog_version") + 1)
    store.refresh_from_db()
    store.product_count = Product.objects.filter(store=store, is_active=True).count()
    store.rendering, store.verbose_rendering = render_store(
        store_record(store), product_count=store.product_count, created=store.created, updated=store.updated
    )
    store.save(update_fields=["product_count", "rendering", "verbose_rendering"])


def invalid(message: str, faults: list[Fault]) -> Invalid:
    return Invalid(faults[0].message if len(faults) == 1 else message, faults=faults)


def _locked(record: Record, store: Store | None) -> Store | None:
    stores = Store.objects.select_for_update(no_key=True)
    if store is not None and store.pk is not None:
        return stores.get(pk=store.pk)
    return stores.filter(external_id=record["StoreID"]).first()


def _clashes(record: Record, current: Store | None, pointer: str) -> list[Fault]:
    others = Store.objects.all() if current is None else Store.objects.exclude(pk=current.pk)
    faults = []
    if others.filter(external_id=record["StoreID"]).exists():
        faults.append(Fault(f"{pointer}/StoreID", "not_unique", "StoreID: another store has this ID."))
    if record["IsDemo"] and (demo := others.filter(is_demo=True).first()):
        message = f"IsDemo: only one store can be the demo store, and {demo.external_id} is."
        faults.append(Fault(f"{pointer}/IsDemo", "not_unique", message))
    return faults


def _comparable(record: Record) -> Record:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in record.items()}
