"""Saves stores and their profiles in the directory."""

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from PIL import Image

from fulfillment.core.db.changes import saved_if_changed
from fulfillment.core.errors import Fault, Invalid
from fulfillment.core.text import JsonObject
from printing.pictures import (
    PictureTooLarge,
    PictureUnreadable,
    encode_picture,
    has_transparency,
    open_picture,
)
from stores.catalog.models import BudgetType, Product, Store, StoreProfile
from stores.catalog.records.field_specs import STORED_STORE_FIELDS, store_record
from stores.catalog.records.record_checks import check_store
from stores.catalog.representations import render_store
from stores.catalog.services.refresh import render_products_again

LOGO_BYTES = 1_048_576
LOGO_SIDE = 4096
# It is shown in a square of 64; three times that for dense screens.
SHOWN_SIDE = 192
ALLOWED = f"Send one PNG or JPEG picture of at most 1 MB and {LOGO_SIDE} × {LOGO_SIDE} pixels."  # noqa: RUF001 - a multiplication sign is meant
MAX_NAMED = 5
COLUMNS = {"Country": "country", "Website": "website", "IsListed": "is_listed"}


@transaction.atomic
def save_profile(
    *, store: Store, values: Mapping[str, Any], logo: bytes | None = None, remove_logo: bool = False
) -> StoreProfile:
    """`values` under the names of COLUMNS; a `logo` replaces the one there is."""
    if faults := find_profile_faults(values=values, logo=logo):
        raise Invalid(faults[0].message, faults=faults)
    stored = StoreProfile.objects.filter(store=store)
    if not logo and not any(values[name] for name in COLUMNS) and not stored.exists():
        return StoreProfile(store=store)
    profile, _ = StoreProfile.objects.select_for_update().get_or_create(store=store)
    with saved_if_changed(profile):
        for name, column in COLUMNS.items():
            setattr(profile, column, values[name])
        if logo:
            profile.logo = _clean_logo(logo)
            profile.logo_sha256 = hashlib.sha256(profile.logo).hexdigest()
        elif remove_logo:
            profile.logo, profile.logo_sha256 = None, ""
    return profile


def find_profile_faults(*, values: Mapping[str, Any], logo: bytes | None) -> list[Fault]:
    """The faults `save_profile` would raise, for a form that shows all at once."""
    faults, columns = [], {field.name for field in StoreProfile._meta.fields}
    for name in ("Country", "Website"):
        try:
            StoreProfile(**{COLUMNS[name]: values[name]}).clean_fields(exclude=columns - {COLUMNS[name]})
        except ValidationError as error:
            faults.append(Fault(f"/{name}", "invalid", " ".join(error.messages)))
    if logo:
        try:
            _clean_logo(logo)
        except Invalid as error:
            faults.append(Fault("/Logo", error.code, error.message))
    return faults


def _clean_logo(content: bytes) -> bytes:
    if len(content) > LOGO_BYTES:
        raise Invalid(f"The file has {len(content):,} bytes. {ALLOWED}", code="logo_too_large")
    try:
        source = open_picture(content, ("PNG", "JPEG"), _check_header)
    except PictureTooLarge as error:
        raise Invalid(f"The picture has far too many pixels. {ALLOWED}", code="logo_too_large") from error
    except PictureUnreadable as error:
        raise Invalid(f"The file is not a readable picture. {ALLOWED}", code="logo_unreadable") from error
    picture = source.convert("RGBA" if has_transparency(source) else "RGB")
    picture.thumbnail((SHOWN_SIDE, SHOWN_SIDE))
    return encode_picture(picture, "PNG", optimize=True)


def _check_header(source: Image.Image) -> None:
    if max(source.size) > LOGO_SIDE:
        raise Invalid(
            f"The picture has {source.width} × {source.height} pixels. {ALLOWED}",  # noqa: RUF001 - a multiplication sign is meant
            code="logo_too_large",
        )


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
    current = _lock_store(record, store)
    faults = _find_clashes(record, current, pointer)
    if faults:
        raise invalid("The store cannot be saved.", faults)
    record = {name: list(value) if isinstance(value, tuple) else value for name, value in record.items()}
    if current is not None and store_record(current) == record:
        return SavedStore(current, is_new=False, is_changed=False)
    saved = current or Store()
    currency_changed = current is not None and current.currency != record["Currency"]
    for spec in STORED_STORE_FIELDS:
        setattr(saved, spec.column, record[spec.name])
    saved.updated = timezone.now()
    saved.catalog_version += 1
    saved.rendering, saved.verbose_rendering = render_store(saved)
    saved.save()
    if currency_changed:
        render_products_again(store_ids=[saved.pk])
    return SavedStore(saved, is_new=current is None, is_changed=True)


def find_store_faults(*, values: Mapping[str, Any], store: Store | None) -> list[Fault]:
    """The faults `save_store` would raise, for a form that shows all at once."""
    record, faults = check_store(values)
    return faults or _find_clashes(record, store, "")


def lock_store(store_id: int) -> Store:
    """Lets one transaction at a time change a catalog; readers and rows that refer to the store do not wait."""
    return Store.objects.select_for_update(no_key=True).get(pk=store_id)


def record_catalog_change(store: Store) -> None:
    """Raises the catalog version and updates the product count; call it in the transaction that changes products."""
    Store.objects.filter(pk=store.pk).update(catalog_version=F("catalog_version") + 1)
    store.refresh_from_db()
    store.product_count = Product.objects.filter(store=store, is_active=True).count()
    store.rendering, store.verbose_rendering = render_store(store)
    store.save(update_fields=["product_count", "rendering", "verbose_rendering"])


def invalid(message: str, faults: list[Fault]) -> Invalid:
    return Invalid(faults[0].message if len(faults) == 1 else message, faults=faults)


def _lock_store(record: JsonObject, store: Store | None) -> Store | None:
    stores = Store.objects.select_for_update(no_key=True)
    if store is not None and store.pk is not None:
        return stores.get(pk=store.pk)
    return stores.filter(external_id=record["StoreID"]).first()


def _find_clashes(record: JsonObject, current: Store | None, pointer: str) -> list[Fault]:
    others = Store.objects.all() if current is None else Store.objects.exclude(pk=current.pk)
    faults = []
    if others.filter(external_id=record["StoreID"]).exists():
        faults.append(Fault(f"{pointer}/StoreID", "not_unique", "StoreID: another store has this ID."))
    if record["IsDemo"] and (demo := others.filter(is_demo=True).first()):
        message = f"IsDemo: only one store can be the demo store, and {demo.external_id} already is."
        faults.append(Fault(f"{pointer}/IsDemo", "not_unique", message))
    if current is not None and current.currency != record["Currency"]:
        faults += _faults_of_amounts(current, pointer)
    return faults


def _faults_of_amounts(store: Store, pointer: str) -> list[Fault]:
    """Budgets that count amounts are in the currency of their store."""
    today = timezone.now().astimezone(ZoneInfo(store.time_zone)).date()
    lasting = Q(end_date__isnull=True) | Q(end_date__gte=today)
    names = store.budgets.filter(lasting, type=BudgetType.AMOUNT).values_list("name", flat=True)[:MAX_NAMED]
    if not names:
        return []
    message = f"Currency: it stays {store.currency} while these budgets count amounts: {', '.join(names)}."
    return [Fault(f"{pointer}/Currency", "budgets_count_amounts", message)]
