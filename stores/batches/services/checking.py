"""Checks rows by the rules of an order and by rendering each; a killed worker's work is continued by the next one."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from fulfillment.core.db.locks import long_transaction
from fulfillment.core.errors import (
    Conflict,
    Fault,
    Invalid,
    ServiceBusy,
    TooManyRequests,
    Unavailable,
    collecting_faults,
)
from stores.batches.files.records import FileFault, Problem
from stores.batches.models import Batch, BatchRow, BatchStatus, RowState
from stores.batches.order_forms import DATA, ITEM, RowForms
from stores.batches.selectors.batches import shown_batches
from stores.batches.selectors.callers import access_of
from stores.batches.selectors.rows import row_of
from stores.batches.services.notices import announce
from stores.batches.services.rows import (
    begin_check,
    forget_jobs,
    in_batch_slot,
    lock_batch,
    lock_open,
    put_cells,
    refuse_settled,
)
from stores.batches.services.storing import UNCHECKED
from stores.orders.requests import OrderRequest, item_faults
from stores.orders.selectors.quotes import ordered_products
from stores.orders.services.validation import ValidatedOrder, validate_order
from stores.proofs.selectors import ProductVersion, product_versions_of
from stores.proofs.services.merging import Uploads, check_data
from stores.proofs.services.proofs import make_proof

ROWS_AT_ONCE = 20
# Outcomes are written together, yet soon: a person waits for the first problem.
WRITE_SECONDS = 0.5
# A row that cannot be checked so often is in error: others must not wait for it.
TRIES = 3
PAUSE_SECONDS = 2.0


@dataclass(slots=True)
class CheckOutcome:
    """What the check of a row found, as the fields of BatchRow."""

    problems: list[Problem] = field(default_factory=list)
    quantity: int = 0
    total: Decimal = Decimal("0.00")
    offer: dict[str, Any] | None = None
    proof: str = ""

    @property
    def state(self) -> RowState:
        severities = {problem["Severity"] for problem in self.problems}
        if "Error" in severities:
            return RowState.ERROR
        return RowState.WARNING if severities else RowState.READY

    def fields(self) -> dict[str, Any]:
        total = self.total if self.state != RowState.ERROR else 0
        return {**asdict(self), "state": self.state, "total": total}


def check_batch(*, batch_id: UUID, from_end: bool = False, go_on: Callable[[], None] = lambda: None) -> None:
    """Checks the pending rows until there are none; runs in a worker, in any number of turns. `go_on` ends a turn.

    Two jobs work on a batch: one from its first row, the other from its last. While one waits for a renderer, the
    other one prices and writes.
    """
    order = "-number" if from_end else "number"
    while batch := shown_batches().filter(pk=batch_id, status=BatchStatus.CHECKING).first():
        rows = list(batch.rows.filter(state=RowState.PENDING).order_by(order)[:ROWS_AT_ONCE])
        checker = RowChecker(batch)
        if checker.version.version != batch.product_version:
            _restart_check(batch)
        elif rows:
            go_on()
            _check_rows(checker, rows)
        else:
            _finish_check(batch)


def correct_row(*, batch: Batch, row_key: str, cells: Mapping[str, str]) -> BatchRow:
    """Changes cells of a row, which keeps its key, and saves it with what its check finds.

    While the service is busy it is saved all the same, and a worker checks it in a moment; after a change of the
    product, with all others.
    """
    refuse_settled(batch)
    checked = put_cells(batch, row_of(batch, row_key), cells)
    return _save_corrected(batch=batch, checked=checked, cells=cells, outcome=_outcome_now(batch, checked))


@in_batch_slot
@long_transaction()
def _save_corrected(
    *, batch: Batch, checked: BatchRow, cells: Mapping[str, str], outcome: CheckOutcome | None
) -> BatchRow:
    locked = lock_open(batch)
    row = put_cells(locked, row_of(locked, checked.key, locked=True), cells)
    # Another person, or another mapping, may have changed it meanwhile.
    is_same = (row.digest, locked.check_started) == (checked.digest, batch.check_started)
    fields = outcome.fields() if outcome and is_same else UNCHECKED
    for name, value in fields.items():
        setattr(row, name, value)
    row.save()
    if row.state == RowState.PENDING and locked.status == BatchStatus.CHECKED:
        begin_check(locked, note=locked.note)
    else:
        Batch.objects.filter(pk=locked.pk).update(updated=timezone.now())
    return row


def _outcome_now(batch: Batch, row: BatchRow) -> CheckOutcome | None:
    if batch.status not in (BatchStatus.CHECKING, BatchStatus.CHECKED):
        return None
    try:
        outcome = RowChecker(batch).check(row)
    except (ServiceBusy, TooManyRequests, Unavailable):
        return None
    return outcome if _find_version(batch) == batch.product_version else None


class RowChecker:
    """Checks rows of one batch."""

    def __init__(self, batch: Batch) -> None:
        self.batch, self.access, self.forms = batch, access_of(batch), RowForms.of(batch)
        versions = product_versions_of([batch.product_id])
        self.version: ProductVersion = versions[batch.product_id]

    def check(self, row: BatchRow) -> CheckOutcome:
        """All that is wrong with a row at once: its form, the rules of an order, and its rendering."""
        outcome = CheckOutcome(problems=list(row.file_problems))
        faults: list[Fault] = []
        try:
            request = self.forms.request([row])
        except Invalid as refusal:
            faults += [*refusal.faults, *self._item_faults(row, refusal.faults)]
        else:
            with collecting_faults(faults):
                self._price(request, outcome)
        try:
            self._render(row, outcome)
        except (Invalid, Conflict) as refusal:
            faults += [
                Fault(DATA + data_fault.pointer, data_fault.code, data_fault.message)
                for data_fault in refusal.faults
            ] or [Fault("", refusal.code, refusal.message)]
        messages = set()
        for fault in faults:
            if (fault.pointer, fault.code) not in messages:
                messages.add((fault.pointer, fault.code))
                outcome.problems.append(self.forms.problem_of(fault, row))
        return outcome

    def _price(self, request: OrderRequest, outcome: CheckOutcome) -> None:
        validated: ValidatedOrder = validate_order(access=self.access, request=request)
        option, [line] = validated.option, validated.option.lines
        [product] = validated.products.values()
        outcome.quantity, outcome.total = line.quantity, line.total
        outcome.offer = {
            "DeliveryMethodCode": option.delivery_method_code,
            "ProductionDays": option.production_days,
            "UnitPrice": str(line.unit_price),
            "Currency": self.access.store.currency,
            "Finishing": dict(product.finishing),
        }

    def _item_faults(self, row: BatchRow, form_faults: Sequence[Fault]) -> list[Fault]:
        """What is wrong with the item, where the form was refused for its recipient alone."""
        if any(fault.pointer.startswith(ITEM) for fault in form_faults):
            return []
        request = self.forms.item_request(row)
        return item_faults(request, ordered_products(access=self.access, price_request=request))

    def _render(self, row: BatchRow, outcome: CheckOutcome) -> None:
        caller, data = self.access.caller, self.forms.data(row)
        if not self.version.has_template:
            if data:
                uploads = Uploads(caller, self.version.store_id)
                check_data(caller=caller, product=self.version, values=data, uploads=uploads)
            return
        proof = make_proof(caller=caller, product=self.version, values=data)
        outcome.proof = proof.digest
        outcome.problems += [self.forms.finding_of(finding, row) for finding in proof.preflight]


def _check_rows(checker: RowChecker, rows: Sequence[BatchRow]) -> None:
    outcomes: list[tuple[BatchRow, CheckOutcome]] = []
    written_at = time.monotonic()
    for row in rows:
        outcomes.append((row, _check_row(checker, row)))
        if time.monotonic() - written_at >= WRITE_SECONDS:
            _store_outcomes(checker.batch, outcomes)
            outcomes, written_at = [], time.monotonic()
    _store_outcomes(checker.batch, outcomes)


def _check_row(checker: RowChecker, row: BatchRow) -> CheckOutcome:
    """Tries again while the renderers are busy. Where other work of this process is in the way, as long as it is."""
    tries_left = TRIES
    while True:
        try:
            return checker.check(row)
        except (ServiceBusy, TooManyRequests):
            pass
        except Unavailable as error:
            tries_left -= 1
            if not tries_left:
                problem = FileFault(error.code, error.message, "Check the batch again.").record
                return CheckOutcome(problems=[*row.file_problems, problem])
        time.sleep(PAUSE_SECONDS)


@transaction.atomic
def _store_outcomes(batch: Batch, outcomes: Sequence[tuple[BatchRow, CheckOutcome]]) -> None:
    """Stores the outcomes, except of rows that changed meanwhile, or whose batch did: they are checked again.

    The batch is locked first, as by all who change several rows: else two of them could wait for each other.
    """
    if lock_batch(batch).check_started != batch.check_started:
        return
    for row, outcome in outcomes:
        unchanged = BatchRow.objects.filter(pk=row.pk, digest=row.digest, state=RowState.PENDING)
        unchanged.update(**outcome.fields())


@transaction.atomic
def _finish_check(batch: Batch) -> None:
    locked = lock_batch(batch)
    if locked.status != BatchStatus.CHECKING or locked.rows.filter(state=RowState.PENDING).exists():
        return
    if _find_version(locked) != locked.product_version:
        begin_check(locked, is_reset=True, note=locked.note)
        return
    locked.status, locked.updated = BatchStatus.CHECKED, timezone.now()
    locked.save(update_fields=["status", "updated"])
    forget_jobs(locked)
    announce(locked)


@long_transaction()
def _restart_check(batch: Batch) -> None:
    """The template changed: what was seen of it is no longer what would be printed."""
    locked = lock_batch(batch)
    if locked.status == BatchStatus.CHECKING:
        begin_check(locked, is_reset=True, note=locked.note)


def _find_version(batch: Batch) -> int:
    return product_versions_of([batch.product_id])[batch.product_id].version
