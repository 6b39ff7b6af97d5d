"""Orders a checked batch: its budgets are reserved at once, and a worker writes each order exactly once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from uuid import UUID, uuid4

from django.db import transaction
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from procrastinate.contrib.django import app

from applications.oauth.selectors import is_authorized
from fulfillment.core.db.locks import long_transaction
from fulfillment.core.errors import (
    Conflict,
    DomainError,
    Fault,
    Forbidden,
    RendererKilled,
    TooManyRequests,
    Unavailable,
)
from fulfillment.core.files.storage import StorageUnavailable
from stores.batches.models import ORDERABLE, Batch, BatchApproval, BatchMode, BatchRow, BatchStatus, RowState
from stores.batches.order_forms import RowForms
from stores.batches.selectors.batches import (
    TEMPLATE_CHANGED,
    Counts,
    counts_of,
    is_template_changed,
    order_count,
    outdated_because,
    shown_batches,
)
from stores.batches.selectors.callers import access_of, caller_of, may_still_order, people_of_batch
from stores.batches.services.batches import close_batch, no_rows
from stores.batches.services.notices import announce, notify_approvers
from stores.batches.services.rows import begin_check, in_batch_slot, job_lock, lock_batch, lock_open
from stores.budgets.services.claims import release_reservation, reserve_budgets
from stores.catalog.models import Store
from stores.orders.models import ActorKind, ApprovalState
from stores.orders.selectors.approvals import total_reasons
from stores.orders.services.approvals import request_terms
from stores.orders.services.changes import Actor
from stores.orders.services.orders import PreparedOrder, create_order, discard_order, prepare_order

ORDER_TASK = "stores.order_batch"
OUTDATED = "batch_outdated"
CHECKED_AGAIN = "All rows are being checked again: review the result, then order."
CURRENCY_CHANGED = "The currency of the store changed since the check."
NOTHING_ORDERED = "Nothing is ordered."
NO_ACCESS = "The rest is not ordered: who made or ordered the batch has no access to the store anymore."
ROWS_AT_ONCE = 50
# With more rows whose files cannot be read or drawn, storage or renderers are probably down.
MAX_UNREADABLE_ROWS = 3
# For all print files of one order of the mode Items, which no request waits for.
SECONDS = 600.0


@dataclass(slots=True)
class BatchClaim:
    """The whole batch as budgets count it."""

    pk: UUID
    store: Store
    user_id: UUID | None
    application_id: UUID | None
    is_test: bool
    total: Decimal
    total_quantity: int
    created: datetime


@in_batch_slot
def order_batch(*, batch: Batch, actor: Actor, external_id: str = "", only_ready: bool = False) -> Batch:
    """Reserves the budgets and has the orders written or, where it needs approval, first requests that.

    Raises Conflict while rows are pending or, without `only_ready`, in error; and as `refuse_outdated` does.
    """
    refuse_outdated(batch=batch)
    return _order(batch, actor, external_id, only_ready=only_ready)


@in_batch_slot
def refuse_outdated(*, batch: Batch) -> None:
    """Raises Conflict if the check no longer holds, and has all rows checked again: call it outside of transactions."""
    if refusal := _check_if_outdated(batch):
        raise refusal


@long_transaction()
def _check_if_outdated(batch: Batch) -> Conflict | None:
    locked = lock_batch(batch)
    if not (why := outdated_because(locked) or _currency_changed(locked)):
        return None
    note = f"{why} {CHECKED_AGAIN}"
    begin_check(locked, is_reset=True, note=note)
    return Conflict(note, code=OUTDATED, members={"Rows": locked.rows.count()})


def _currency_changed(batch: Batch) -> str:
    offered = batch.rows.filter(offer__has_key="Currency").exclude(offer__Currency=batch.store.currency)
    return CURRENCY_CHANGED if batch.status == BatchStatus.CHECKED and offered.exists() else ""


@transaction.atomic
def _order(batch: Batch, actor: Actor, external_id: str, *, only_ready: bool) -> Batch:
    locked = lock_open(batch)
    _refuse_revoked(locked, actor)
    counts = counts_of(locked)
    _refuse_unready(locked, counts, only_ready=only_ready)
    now = timezone.now()
    locked.status, locked.updated = BatchStatus.ORDERING, now
    locked.external_id, locked.note = external_id, ""
    locked.actor_kind, locked.actor_user = actor.kind, actor.user_id
    locked.actor_application = actor.application_id
    locked.reservation_id = uuid4()
    locked.save()
    outcome = reserve_budgets(
        batch=budget_claim(locked, counts),
        orders=order_count(locked, counts.orderable),
        reservation_id=locked.reservation_id,
        caller=caller_of(locked),
    )
    reasons = [*total_reasons(locked.store, counts.total), *outcome.reasons]
    if reasons and not (locked.is_test or locked.store.is_demo):
        _request_approval(locked, reasons, now)
    else:
        queue_orders(locked)
    return locked


def budget_claim(batch: Batch, counts: Counts) -> BatchClaim:
    return BatchClaim(
        batch.pk,
        batch.store,
        batch.user_id,
        batch.application_id,
        batch.is_test,
        counts.total,
        counts.pieces,
        batch.updated,
    )


def queue_orders(batch: Batch) -> None:
    app.configure_task(ORDER_TASK, lock=job_lock(batch)).defer(batch_id=str(batch.pk))


def write_orders(*, batch_id: UUID, go_on: Callable[[], None] = lambda: None) -> None:
    """Writes the orders that are left; runs in a worker, in any number of turns. `go_on` ends a turn.

    Who made and ordered the batch must still be allowed to: a key may have been stolen.
    Raises Unavailable or TooManyRequests while the service is busy: the job is tried again. So it is for a row whose
    own file cannot be read or drawn, after all other rows.
    """
    errors_by_row: dict[int, Unavailable] = {}
    while batch := _find_ordering(batch_id):
        rows = batch.rows.filter(state__in=ORDERABLE).order_by("number")
        if not may_still_order(batch):
            _end_batch(batch)
            return
        if batch.mode == BatchMode.ITEMS:
            _order_rows(batch, list(rows))
            return
        chunk = list(rows.exclude(pk__in=errors_by_row)[:ROWS_AT_ONCE])
        if not chunk:
            if errors_by_row:
                raise next(iter(errors_by_row.values()))
            _finish_batch(batch)
            return
        go_on()
        for row in chunk:
            try:
                _order_rows(batch, [row])
            except (StorageUnavailable, RendererKilled) as error:
                if len(errors_by_row) == MAX_UNREADABLE_ROWS:
                    raise
                errors_by_row[row.pk] = error


def _order_rows(batch: Batch, rows: Sequence[BatchRow]) -> None:
    """One order of these rows, or none and why."""
    forms = RowForms.of(batch)
    try:
        prepared = _prepare_order(batch, forms, rows)
    except (Unavailable, TooManyRequests):
        raise
    except DomainError as refusal:
        _fail_rows(batch, forms, rows, refusal)
        return
    try:
        is_written = _write_order(batch, prepared, rows)
    except (Unavailable, TooManyRequests):
        discard_order(prepared=prepared)
        raise
    except DomainError as refusal:
        discard_order(prepared=prepared)
        _fail_rows(batch, forms, rows, refusal)
        return
    if not is_written:
        discard_order(prepared=prepared)


def _prepare_order(batch: Batch, forms: RowForms, rows: Sequence[BatchRow]) -> PreparedOrder:
    """The order as it was checked: the same template, quantities, delivery, speed, currency, price and paper."""
    _refuse_changed_template(batch)
    if any(_is_in_another_currency(row, batch.store) for row in rows):
        raise Conflict(CURRENCY_CHANGED, code=OUTDATED)
    request = forms.request(rows, offer=rows[0].offer)
    if batch.external_id:
        suffix = "" if batch.mode == BatchMode.ITEMS else f"-{rows[0].number}"
        request = replace(request, external_id=f"{batch.external_id}{suffix}")
    prepared = prepare_order(access=access_of(batch), request=request, seconds=SECONDS)
    products = prepared.products
    # Offers of earlier checks do not name the paper.
    if rows[0].offer and (finishing := rows[0].offer.get("Finishing")):
        products = {name: replace(product, finishing=finishing) for name, product in products.items()}
    return replace(prepared, products=products)


def _refuse_changed_template(batch: Batch) -> None:
    if is_template_changed(batch):
        raise Conflict(TEMPLATE_CHANGED, code=OUTDATED)


def _is_in_another_currency(row: BatchRow, store: Store) -> bool:
    # Offers of earlier checks do not name theirs.
    return row.offer is not None and row.offer.get("Currency", store.currency) != store.currency


@transaction.atomic
def _write_order(batch: Batch, prepared: PreparedOrder, rows: Sequence[BatchRow]) -> bool:
    """Writes the order and marks its rows in one transaction; False if they were ordered or cancelled meanwhile."""
    locked = lock_batch(batch)
    keys = [row.pk for row in rows]
    # The rows alone: their usual order joins the store, which the orders of others refer to.
    waiting = BatchRow.objects.order_by("pk").select_for_update(of=("self",))
    waiting = waiting.filter(pk__in=keys, state__in=ORDERABLE, order=None)
    if locked.status != BatchStatus.ORDERING or len(waiting) != len(rows):
        return False
    # It may have been published while the order was prepared, and be in its print files.
    _refuse_changed_template(locked)
    actor = Actor(ActorKind(locked.actor_kind), locked.actor_user)
    created = create_order(prepared=prepared, actor=actor, reservation_id=locked.reservation_id)
    waiting.update(order=created.order, state=RowState.ORDERED, problems=[])
    if locked.mode == BatchMode.ITEMS:
        _finish_batch(batch)
    return True


@long_transaction()
def _fail_rows(batch: Batch, forms: RowForms, rows: Sequence[BatchRow], refusal: DomainError) -> None:
    """A row that cannot be ordered leaves the others; of the mode Items none is ordered, and all can be corrected.

    If the template or the currency changed before the first order, all rows are checked again.
    """
    locked = lock_batch(batch)
    if locked.status != BatchStatus.ORDERING:
        return
    if refusal.code == OUTDATED and not locked.rows.exclude(order=None).exists():
        begin_check(locked, is_reset=True, note=f"{refusal.message} {NOTHING_ORDERED} {CHECKED_AGAIN}")
        release_reservation(reservation_id=locked.reservation_id)
        return
    of_items = batch.mode == BatchMode.ITEMS
    for index, row in enumerate(rows):
        faults = [fault for fault in refusal.faults if not of_items or _concerns_item(fault, index)]
        if of_items and refusal.faults and not faults:
            continue
        listed = faults or [Fault("", refusal.code, refusal.message)]
        problems = [forms.problem_of(_as_first_item(fault, index), row) for fault in listed]
        state = RowState.ERROR if of_items else RowState.FAILED
        BatchRow.objects.filter(pk=row.pk, order=None).update(state=state, problems=problems)
    if of_items:
        locked.status, locked.note, locked.updated = (
            BatchStatus.CHECKED,
            refusal.message[:1000],
            timezone.now(),
        )
        locked.save(update_fields=["status", "note", "updated"])
        release_reservation(reservation_id=locked.reservation_id)


def _concerns_item(fault: Fault, index: int) -> bool:
    return not fault.pointer.startswith("/Items/") or fault.pointer.split("/")[2] == str(index)


def _as_first_item(fault: Fault, index: int) -> Fault:
    """The fault as if the row were the only item."""
    own = f"/Items/{index}"
    if fault.pointer == own or fault.pointer.startswith(f"{own}/"):
        return replace(fault, pointer="/Items/0" + fault.pointer.removeprefix(own))
    return fault


@long_transaction()
def _end_batch(batch: Batch) -> None:
    locked = lock_batch(batch)
    if locked.status == BatchStatus.ORDERING:
        close_batch(locked, note=NO_ACCESS, approval=ApprovalState.EXPIRED)


@transaction.atomic
def _finish_batch(batch: Batch) -> None:
    locked = lock_batch(batch)
    if locked.status != BatchStatus.ORDERING or locked.rows.filter(state__in=ORDERABLE).exists():
        return
    locked.status, locked.updated = BatchStatus.ORDERED, timezone.now()
    locked.save(update_fields=["status", "updated"])
    release_reservation(reservation_id=locked.reservation_id)
    announce(locked)


def _find_ordering(batch_id: UUID) -> Batch | None:
    """The batch, unless it is cancelled, ordered, or waits for approval."""
    batches = shown_batches().filter(pk=batch_id, status=BatchStatus.ORDERING)
    return batches.exclude(approval__state=ApprovalState.PENDING).first()


def _refuse_revoked(batch: Batch, actor: Actor) -> None:
    """An application alone orders a batch of a person only as long as this person authorizes it."""
    if actor.application_id is None or actor.user_id or batch.user_id is None or batch.is_first_party:
        return
    if not is_authorized(user_id=batch.user_id, application_id=actor.application_id):
        raise Forbidden(_("The user who made this batch no longer authorizes the application."))


def _refuse_unready(batch: Batch, counts: Counts, *, only_ready: bool) -> None:
    if not counts.rows:
        raise no_rows()
    if batch.status != BatchStatus.CHECKED or counts.pending:
        raise Conflict(
            _("The batch is not checked yet; wait until its Status is Checked."), code="batch_not_checked"
        )
    if counts.errors and not only_ready:
        raise Conflict(
            _("%(errors)s rows are in error. Correct them, or order with OnlyReady.")
            % {"errors": number_format(counts.errors, force_grouping=True)},
            code="batch_has_errors",
            members={"Rows": counts.errors},
        )
    if not counts.orderable:
        raise Conflict(_("No row of the batch can be ordered."), code="batch_has_errors")


def _request_approval(batch: Batch, reasons: Sequence[dict[str, object]], now: datetime) -> None:
    BatchApproval.objects.filter(batch=batch).delete()
    terms = request_terms(batch.store, reasons, people_of_batch(batch), requested=now)
    approval = BatchApproval.objects.create(batch=batch, state=ApprovalState.PENDING, **terms)
    batch.approval = approval
    notify_approvers(approval)
