"""Makes batches, changes how they are ordered, and cancels them."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.callers import Caller
from fulfillment.core.db.locks import lock_number, lock_until_commit, long_transaction
from fulfillment.core.errors import Conflict, Fault, Invalid, raise_faults
from fulfillment.core.text import pointer_to
from printing.text import did_you_mean
from stores.batches.models import (
    ORDERABLE,
    Batch,
    BatchApproval,
    BatchMode,
    BatchStatus,
    ColumnMapping,
    RowState,
)
from stores.batches.row_contents import REQUIRED_RECIPIENT
from stores.batches.selectors.batches import kept_mappings, open_batches, owner_fields, target_labels
from stores.batches.selectors.callers import caller_of
from stores.batches.services.mapping import apply_mapping
from stores.batches.services.rows import begin_check, forget_jobs, in_batch_slot, lock_batch, lock_open
from stores.budgets.services.claims import release_reservation
from stores.catalog.models import Product
from stores.orders.models import ApprovalState
from stores.orders.selectors.access import StoreAccess

MAX_OPEN = 50
# Mappings that a caller keeps in a store; the page offers them all.
MAX_KEPT = 50


@transaction.atomic
def create_batch(
    *, access: StoreAccess, product_id: str, values: Mapping[str, Any], mapping_name: str = ""
) -> Batch:
    """`values` are fields of Batch. `mapping_name` is a kept mapping, used where `values` has none."""
    caller = access.caller
    _lock_limits(caller)
    if open_batches(caller).count() >= MAX_OPEN:
        message = f"You have {MAX_OPEN} batches that are not ordered; order or cancel some first."
        raise Conflict(message, code="too_many_batches")
    product = Product.objects.filter(store=access.store, external_id=product_id, is_active=True).first()
    if product is None:
        message = f"ProductID: there is no product {product_id[:64]!r} in this store."
        raise Invalid.at("/ProductID", "product_unknown", message)
    now = timezone.now()
    batch = Batch(
        store=access.store,
        application_id=caller.application_id,
        user_id=caller.user_id,
        is_first_party=caller.is_first_party,
        is_test=caller.is_test,
        product=product,
        created=now,
        updated=now,
        **values,
    )
    _check_recipient(batch)
    batch.mapping = _requested_mapping(batch, values.get("mapping"), mapping_name)
    batch.save(force_insert=True)
    return batch


@in_batch_slot
@long_transaction()
def change_batch(*, batch: Batch, values: Mapping[str, Any], mapping_name: str = "") -> Batch:
    """Changes the fields of Batch in `values`; with `mapping_name` its mapping is also kept under that name.

    What changes the orders of all rows starts their check again.
    """
    locked = lock_open(batch)
    before = {name: getattr(locked, name) for name in values}
    for name, value in values.items():
        setattr(locked, name, value)
    changed = {name for name, value in values.items() if value != before[name]}
    _check_recipient(locked)
    if "mapping" in values:
        _check_mapping(locked, values["mapping"])
        locked.matches = []
    locked.updated = timezone.now()
    locked.save(update_fields=[*values, "matches", "updated"])
    if "mapping" in changed:
        apply_mapping(locked)
    if "mapping" in values or changed - {"name"}:
        begin_check(locked, is_reset=bool(changed - {"name", "mapping"}))
    if mapping_name:
        # Last, because it locks all mappings of the caller.
        keep_mapping(batch=locked, name=mapping_name)
    return locked


def no_rows() -> Conflict:
    return Conflict(_("The batch has no rows: PUT them first."), code="batch_empty")


@in_batch_slot
@long_transaction()
def start_check(*, batch: Batch) -> Batch:
    """Checks all rows, also those that were checked before: prices, pictures and the template may have changed."""
    locked = lock_open(batch)
    if not locked.rows.exists():
        raise no_rows()
    begin_check(locked, is_reset=True)
    return locked


@in_batch_slot
@long_transaction()
def cancel_batch(*, batch: Batch, note: str = "") -> Batch:
    """Stops what is not ordered. What is ordered stays; its orders are cancelled one by one."""
    locked = lock_batch(batch)
    if locked.status == BatchStatus.CANCELLED:
        return locked
    if locked.status == BatchStatus.ORDERED:
        raise Conflict(_("The whole batch is ordered. Cancel its orders instead."), code="batch_ordered")
    return close_batch(locked, note=note, approval=ApprovalState.EXPIRED)


def close_batch(
    locked: Batch, *, note: str, approval: ApprovalState, decided_by: UUID | None = None
) -> Batch:
    """Cancels a locked batch, with its undecided approval, and gives back what it reserved."""
    now = timezone.now()
    locked.rows.filter(state__in=(*ORDERABLE, RowState.PENDING)).update(state=RowState.CANCELLED)
    locked.status, locked.note, locked.updated = BatchStatus.CANCELLED, note, now
    locked.save(update_fields=["status", "note", "updated"])
    BatchApproval.objects.filter(batch=locked, state=ApprovalState.PENDING).update(
        state=approval, decided=now, decided_by=decided_by, note=note or "The batch was cancelled."
    )
    release_reservation(reservation_id=locked.reservation_id)
    forget_jobs(locked)
    return locked


@transaction.atomic
def keep_mapping(*, batch: Batch, name: str) -> None:
    """Keeps the mapping under a name for the caller's next file; an existing one is replaced."""
    _lock_limits(caller_of(batch))
    if kept_mappings(batch).exclude(name=name).count() >= MAX_KEPT:
        message = _(
            "You have %(count)s mappings in this store, which is the limit. Replace one: use its name."
        )
        raise Conflict(message % {"count": MAX_KEPT}, code="too_many_mappings")
    values = {"mapping": batch.mapping, "updated": timezone.now()}
    ColumnMapping.objects.update_or_create(**owner_fields(batch), name=name, defaults=values)


def _lock_limits(caller: Caller) -> None:
    """Locks until the transaction ends, so that simultaneous requests are counted one after the other."""
    lock_until_commit(lock_number(f"batches {caller.application_id}/{caller.user_id}"))


def _requested_mapping(batch: Batch, mapping: Mapping[str, str] | None, mapping_name: str) -> dict[str, str]:
    if mapping is None and mapping_name:
        saved = kept_mappings(batch).filter(name=mapping_name).first()
        if saved is None:
            message = f"MappingName: no mapping is kept under the name {mapping_name!r}."
            raise Invalid.at("/MappingName", "mapping_unknown", message)
        mapping = saved.mapping
    _check_mapping(batch, mapping or {})
    return dict(mapping or {})


def _check_mapping(batch: Batch, mapping: Mapping[str, str]) -> None:
    """Targets must be known, and columns in the file, once there is one."""
    targets = target_labels(batch)
    columns = dict.fromkeys(batch.columns or mapping.values())
    near_targets = did_you_mean((target for target in mapping if target not in targets), targets)
    near_columns = did_you_mean((column for column in mapping.values() if column not in columns), columns)
    faults = []
    for target, column in mapping.items():
        pointer = pointer_to(((None, "Mapping"), target))
        if target not in targets:
            near = near_targets.get(target, "")
            message = f"Mapping: {target[:100]!r} is no field of this batch.{near}"
            faults.append(Fault(pointer, "target_unknown", message))
        elif column not in columns:
            near = near_columns.get(column, "")
            message = f"Mapping: the file has no column {column[:100]!r}.{near}"
            faults.append(Fault(pointer, "column_unknown", message))
    raise_faults(faults)


def _check_recipient(batch: Batch) -> None:
    if batch.mode == BatchMode.RECIPIENTS:
        return
    missing: Sequence[str] = [name for name in REQUIRED_RECIPIENT if not batch.recipient.get(name)]
    raise_faults(
        [
            Fault(
                f"/Recipient/{name}",
                "required",
                _("Recipient/%(name)s: required, because all rows go to one recipient.") % {"name": name},
            )
            for name in missing
        ]
    )
