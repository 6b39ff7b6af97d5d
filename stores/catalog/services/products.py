"""Saves, archives and copies products."""

from collections.abc import Mapping
from datetime import datetime
from itertools import count
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from fulfillment.core.errors import Fault
from stores.catalog.models import DeliveredPrice, Product, ProductionSpeed, Store, TemplateField
from stores.catalog.record_checks import KEYS, check_product
from stores.catalog.records import DELIVERED_PRICE, PRODUCT, PRODUCTION_SPEED, TEMPLATE_FIELD, FieldSpec
from stores.catalog.representations import render_product
from stores.catalog.selectors.products import stored_product
from stores.catalog.services.stores import invalid, lock_store, record_catalog_change
from stores.presets.selectors import unknown_presets
from stores.templates.records import Record, fingerprint
from stores.templates.services import TemplateChecks, same_template

price_key = KEYS["DeliveredPrices"][0]
# An ID has at most 64 characters; the rest is for "-copy-" and a number.
MAX_STEM_LENGTH = 50


@transaction.atomic
def save_product(
    *,
    store: Store,
    values: Mapping[str, Any],
    product: Product | None = None,
    position: int | None = None,
    copy_of: Record | None = None,
) -> Product:
    """Writes a product and replaces all its children; without `product` it creates one.

    The version rises only if something changed. A new product without a position goes to the end. The template of a
    stored record that this is a copy of was checked when that was saved.
    """
    store = lock_store(store.pk)
    record, faults = check_product(values)
    faults = faults or _clashes(record, store, product)
    if faults:
        raise invalid("The product cannot be saved.", faults)
    now = timezone.now()
    if product is None:
        saved = _new_product(store, record, copy_of, now)
        is_changed = True
    else:
        saved = Product.objects.select_for_update().get(pk=product.pk, store=store)
        is_changed = _prepare_change(saved, record, now)
    is_moved = position is not None and position != saved.position
    if position is not None:
        saved.position = position
    if is_changed:
        _write(saved, record, now)
    elif is_moved:
        saved.save(update_fields=["position"])
    if is_changed or is_moved:
        record_catalog_change(store)
    return saved


def _new_product(store: Store, record: Record, copy_of: Record | None, now: datetime) -> Product:
    if copy_of is None or not same_template(record, copy_of):
        _check_template(record)
    return Product(store=store, created=now, version=0, position=end_of_catalog(store))


def _prepare_change(saved: Product, record: Record, now: datetime) -> bool:
    """Checks a new template and dates the prices; False if the record then equals the stored one."""
    stored = stored_product(saved.pk)
    if not same_template(record, stored.record):
        _check_template(record)
    carry_over_price_dates(record, stored.record["DeliveredPrices"], created=stored.created, now=now)
    return fingerprint(record) != fingerprint(stored.record)


def find_product_faults(
    *, store: Store | None, values: Mapping[str, Any], product: Product | None
) -> list[Fault]:
    """The faults `save_product` would raise, for a form that shows all at once; works without a store."""
    record, faults = check_product(values)
    if store is not None and not faults:
        faults = _clashes(record, store, product)
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
    taken = set(
        Product.objects.filter(
            store=store, external_id__startswith=record["ID"][:MAX_STEM_LENGTH]
        ).values_list("external_id", flat=True)
    )
    stem = f"{record['ID'][:MAX_STEM_LENGTH]}-copy"
    copies = (stem if number == 1 else f"{stem}-{number}" for number in count(1))
    record["ID"] = next(name for name in copies if name not in taken)
    record["Name"] = f"Copy of {record['Name']}"[:200]
    record["DeliveredPrices"] = [{**price, "Created": None} for price in record["DeliveredPrices"]]
    return save_product(store=store, values={**record, "APIKey": "", "IsActive": False}, copy_of=original)


def carry_over_price_dates(
    record: Record, stored_prices: list[Record], *, created: datetime, now: datetime
) -> None:
    """An existing price keeps its date and a new one gets `now`; a date in the record itself takes precedence."""
    dates = {price_key(price): price["Created"] for price in stored_prices}
    for price in record["DeliveredPrices"]:
        if price["Created"] is None:
            price["Created"] = dates.get(price_key(price), now)
        elif price["Created"] == created:
            price["Created"] = None  # None means the creation date of the product


def _write(saved: Product, record: Record, now: datetime) -> None:
    for member in PRODUCT:
        setattr(saved, member.column, record[member.name])
    saved.version += 1
    saved.updated = now
    saved.rendering, saved.verbose_rendering = render_product(
        record, currency=saved.store.currency, created=saved.created, updated=now
    )
    is_new = saved.pk is None
    saved.save()
    if not is_new:
        for model in (TemplateField, DeliveredPrice, ProductionSpeed):
            model.objects.filter(product=saved).delete()
    TemplateField.objects.bulk_create(
        TemplateField(product=saved, **row) for row in _rows(record["TemplateFields"], TEMPLATE_FIELD)
    )
    DeliveredPrice.objects.bulk_create(
        DeliveredPrice(product=saved, **{**row, "created": row["created"] or saved.created})
        for row in _rows(record["DeliveredPrices"], DELIVERED_PRICE)
    )
    ProductionSpeed.objects.bulk_create(
        ProductionSpeed(product=saved, **row) for row in _rows(record["ProductionSpeeds"], PRODUCTION_SPEED)
    )


def _check_template(record: Record) -> None:
    if faults := TemplateChecks().faults(record):
        raise invalid("The template cannot be saved.", faults)


def _rows(entries: list[Record], members: tuple[FieldSpec, ...]) -> list[dict[str, Any]]:
    return [
        {"position": position, **{member.column: _as_list(entry[member.name]) for member in members}}
        for position, entry in enumerate(entries)
    ]


def _as_list(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _preset_faults(record: Record) -> list[Fault]:
    if not unknown_presets([record["Preset"]]):
        return []
    return [Fault("/Preset", "unknown_preset", f"Preset: there is no print preset {record['Preset']}.")]


def _clashes(record: Record, store: Store, product: Product | None) -> list[Fault]:
    others = Product.objects.filter(store=store, external_id=record["ID"])
    if product is not None:
        others = others.exclude(pk=product.pk)
    if others.exists():
        return [Fault("/ID", "not_unique", "ID: another product of this store has this ID.")]
    return _preset_faults(record)


def end_of_catalog(store: Store) -> int:
    last = Product.objects.filter(store=store).aggregate(last=Max("position"))["last"]
    return 0 if last is None else last + 1
