"""Saves, archives and copies products."""

from collections.abc import Mapping
from itertools import count
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from fulfillment.core.errors import Fault
from fulfillment.core.text import JsonObject
from stores.catalog.models import Product, Store
from stores.catalog.records.record_checks import check_product
from stores.catalog.selectors.products import stored_product
from stores.catalog.services.rows import CatalogEntry, CatalogRows
from stores.catalog.services.stores import invalid, lock_store, record_catalog_change
from stores.presets.selectors import unknown_presets
from stores.templates.services import TemplateChecks, same_template

# An ID has at most 64 characters; the rest is for "-copy-" and a number.
MAX_STEM_LENGTH = 50


@transaction.atomic
def save_product(
    *,
    store: Store,
    values: Mapping[str, Any],
    product: Product | None = None,
    position: int | None = None,
    copy_of: JsonObject | None = None,
) -> Product:
    """Writes a product and replaces all its children; without `product` it creates one.

    The version rises only if something changed. A new product without a position goes to the end. The template of a
    stored record that this is a copy of was checked when that was saved.
    """
    store = lock_store(store.pk)
    record, faults = check_product(values)
    faults = faults or _find_clashes(record, store, product)
    if faults:
        raise invalid("The product cannot be saved.", faults)
    stored = None if product is None else stored_product(product.pk)
    checked = copy_of if stored is None else stored.record
    if checked is None or not same_template(record, checked):
        _check_template(record)
    if position is None:
        position = end_of_catalog(store) if stored is None else stored.position
    entry = CatalogEntry(record, stored, position=position)
    rows = CatalogRows(timezone.now())
    rows.prepare()
    rows.set_keys([entry])
    is_changed = any(rows.write(store, [entry]))
    is_moved = stored is not None and stored.position != position
    if is_moved and not is_changed:
        Product.objects.filter(pk=entry.pk).update(position=position)
    if is_changed or is_moved:
        record_catalog_change(store)
    return Product.objects.select_related("store").get(pk=entry.pk)


def find_product_faults(
    *, store: Store | None, values: Mapping[str, Any], product: Product | None
) -> list[Fault]:
    """The faults `save_product` would raise, for a form that shows all at once; works without a store."""
    record, faults = check_product(values)
    if store is not None and not faults:
        faults = _find_clashes(record, store, product)
    if faults or (product is not None and same_template(record, stored_product(product.pk).record)):
        return faults
    return TemplateChecks().faults(record)


@transaction.atomic
def archive_product(*, product: Product) -> Product:
    """Takes a product out of the catalog; existing orders keep it."""
    store = lock_store(product.store_id)
    record = stored_product(product.pk).record
    return save_product(store=store, product=product, values={**record, "IsActive": False})


@transaction.atomic
def duplicate_product(*, product: Product) -> Product:
    """A copy with an ID of its own and without the APIKey, not yet in the catalog."""
    store = lock_store(product.store_id)
    original = stored_product(product.pk).record
    record = dict(original)
    taken_ids = set(
        Product.objects.filter(
            store=store, external_id__startswith=record["ID"][:MAX_STEM_LENGTH]
        ).values_list("external_id", flat=True)
    )
    stem = f"{record['ID'][:MAX_STEM_LENGTH]}-copy"
    copies = (stem if number == 1 else f"{stem}-{number}" for number in count(1))
    record["ID"] = next(name for name in copies if name not in taken_ids)
    record["Name"] = f"Copy of {record['Name']}"[:200]
    record["DeliveredPrices"] = [{**price, "Created": None} for price in record["DeliveredPrices"]]
    return save_product(store=store, values={**record, "APIKey": "", "IsActive": False}, copy_of=original)


def _check_template(record: JsonObject) -> None:
    if faults := TemplateChecks().faults(record):
        raise invalid("The template cannot be saved.", faults)


def _find_clashes(record: JsonObject, store: Store, product: Product | None) -> list[Fault]:
    others = Product.objects.filter(store=store, external_id=record["ID"])
    if product is not None:
        others = others.exclude(pk=product.pk)
    if others.exists():
        return [Fault("/ID", "not_unique", "ID: another product of this store has this ID.")]
    if unknown_presets([record["Preset"]]):
        return [Fault("/Preset", "unknown_preset", f"Preset: there is no print preset {record['Preset']}.")]
    return []


def end_of_catalog(store: Store) -> int:
    last = Product.objects.filter(store=store).aggregate(last=Max("position"))["last"]
    return 0 if last is None else last + 1
