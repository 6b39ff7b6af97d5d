"""Personal data in rows: exported and erased with their orders, or with the person who sent them."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from accounts.models import User
from accounts.services.idempotency import rewrite_stored_responses
from accounts.services.notifications import erase_texts
from fulfillment.core.audit.personal_data import ERASED, PersonalData, records_of
from fulfillment.core.audit.retention import RetentionRule, remove_each, rule_for_rows
from fulfillment.core.db.locks import long_transaction
from fulfillment.core.text import JsonObject, timestamp
from stores.batches.models import (
    SETTLED,
    Batch,
    BatchApproval,
    BatchMode,
    BatchRow,
    BatchStatus,
    ColumnMapping,
)
from stores.batches.services.batches import close_batch
from stores.batches.services.notices import decision_key
from stores.batches.services.rows import lock_batch
from stores.orders.models import ApprovalState, Order
from stores.orders.services.recipients import NOTE
from stores.proofs.services.retention import delete_proof

DONE = (BatchStatus.ORDERED, BatchStatus.ORDERING)

# What is left of a row when its recipient is erased: its key, its state and its order.
ERASED_ROW: dict[str, Any] = {
    "name": "",
    "values": {},
    "words": "",
    "problems": [],
    "file_problems": [],
    "proof": "",
}
UNORDERED = timedelta(days=30)


def personal_data() -> list[PersonalData]:
    return [
        PersonalData("batches", _batches_of, _erase_batches),
        PersonalData("batch_approvals", _approvals_of),
        PersonalData("column_mappings", _mappings_of, _erase_mappings),
    ]


def erase_rows_of_order(*, order: Order) -> None:
    """Erases the rows that became the order, and what their batch says of recipients; their keys stay.

    In the mode Recipients the address of the batch stays until no row needs it for an order.
    """
    rows = BatchRow.objects.filter(order=order)
    for batch in Batch.objects.filter(rows__in=rows).distinct():
        if batch.mode == BatchMode.ITEMS or batch.status in SETTLED:
            _erase_recipient(batch, ordered=order.created)
        # Notes are free text and may name people.
        noted = BatchApproval.objects.filter(batch=batch).exclude(note__in=("", ERASED))
        if noted.update(note=ERASED):
            erase_texts(keys=[decision_key(batch)])
    rows.update(**ERASED_ROW)


def erase_unordered_rows(*, words: Sequence[str], dry_run: bool = False) -> int:
    """Deletes the rows with all of these texts that are not ordered nor being ordered, and what was rendered of them;
    returns how many. Raises StorageUnavailable at the end if proofs of some cannot be deleted: these stay.
    """
    rows = BatchRow.objects.filter(order=None).exclude(batch__status=BatchStatus.ORDERING)
    matches = _with_words(rows, "values", words)
    if dry_run:
        return matches.count()

    def erase(digest: str) -> int:
        if digest:
            delete_proof(digest=digest)
        return matches.filter(proof=digest).delete()[0]

    return sum(remove_each(set(matches.values_list("proof", flat=True)), erase))


def erase_unordered_recipients(*, words: Sequence[str], dry_run: bool = False) -> int:
    """Cancels the batches that would all go to the person with these texts, and erases that address; returns how
    many.
    """
    batches = Batch.objects.exclude(status__in=DONE).select_related("store", "product")
    matches = list(_with_words(batches, "recipient", words))
    for batch in [] if dry_run else matches:
        with long_transaction():
            locked = close_batch(lock_batch(batch), note=NOTE, approval=ApprovalState.EXPIRED)
            _erase_recipient(locked, ordered=timezone.now())
    return len(matches)


def _erase_recipient(batch: Batch, *, ordered: datetime) -> None:
    """Erases the address of the batch, also in the stored responses about it, of which none is after `ordered`."""
    batch.recipient = _overwrite(batch.recipient)
    batch.save(update_fields=["recipient"])
    rewrite_stored_responses(
        since=batch.created,
        until=ordered,
        location=f"/batch/{batch.pk}",
        rewrite=_rewritten_response,
    )


def _rewritten_response(body: bytes) -> bytes:
    record = json.loads(body)
    record["Recipient"] = _overwrite(record["Recipient"] or {}) or None
    return json.dumps(record).encode()


def _overwrite(recipient: dict[str, str]) -> dict[str, str]:
    return dict.fromkeys(recipient, ERASED)


def batches_being_ordered(*, words: Sequence[str]) -> list[str]:
    """The BatchIDs of those with these texts: they wait for approval, or for a worker, and keep them until then."""
    batches = Batch.objects.filter(status=BatchStatus.ORDERING)
    rows = _with_words(BatchRow.objects.filter(order=None, batch__in=batches), "values", words)
    to_one = _with_words(batches, "recipient", words)
    return sorted(
        {str(key) for key in (*rows.values_list("batch", flat=True), *to_one.values_list("pk", flat=True))}
    )


def _with_words(records: QuerySet[Any], field: str, words: Sequence[str]) -> QuerySet[Any]:
    """Records whose JSON `field` has each word as a whole value, without regard to case: Ann does not match Anna."""
    matches = records.annotate(text=Cast(field, TextField()))
    for word in words:
        # As PostgreSQL writes it within JSON.
        matches = matches.filter(text__icontains=json.dumps(word.strip(), ensure_ascii=False)[1:-1])
    search_words = {word.strip().casefold() for word in words}
    keys = [key for key, values in matches.values_list("pk", field) if search_words <= _folded_values(values)]
    return records.filter(pk__in=keys)


def _folded_values(values: dict[str, Any]) -> set[str]:
    return {str(value).strip().casefold() for value in values.values()}


def _batches_of(user: User) -> Iterator[JsonObject]:
    for batch in Batch.objects.filter(user=user).order_by("created"):
        yield {
            "BatchID": str(batch.pk),
            "Name": batch.name,
            "Status": batch.status,
            "Created": timestamp(batch.created),
            "Recipient": batch.recipient,
            "Rows": list(batch.rows.order_by("number").values_list("values", flat=True)),
        }


def _erase_batches(user: User) -> None:
    """Erases the user's batches. Ordered rows stay with their orders, which have an erasure of their own."""
    Batch.objects.filter(user=user).exclude(status__in=DONE).delete()


def _approvals_of(user: User) -> Iterator[JsonObject]:
    approvals = BatchApproval.objects.filter(decided_by=user).order_by("decided")
    return records_of(approvals, BatchID="pk", Decided="decided", Note="note")


def _mappings_of(user: User) -> Iterator[JsonObject]:
    mappings = ColumnMapping.objects.filter(user=user).order_by("name")
    return records_of(mappings, Name="name", Mapping="mapping")


def _erase_mappings(user: User) -> None:
    ColumnMapping.objects.filter(user=user).delete()


def retention_rules() -> list[RetentionRule]:
    return [
        # First, because a batch goes with its rows: those of 120 batches of 50 MB take longer than a statement may.
        replace(rule_for_rows("rows of batches that were not ordered", _left_rows), remove=_remove_left_rows),
        rule_for_rows("batches that were not ordered", _unordered_batches),
        rule_for_rows("batches without rows", _find_empty),
    ]


def _remove_left_rows(batch: int) -> Iterator[int]:
    """Cancels their batches before: one that is opened meanwhile, or after a stopped run, could be ordered in part."""
    _unordered_batches().exclude(status=BatchStatus.CANCELLED).update(status=BatchStatus.CANCELLED)
    yield from rule_for_rows("", lambda: _left_rows().filter(batch__status__in=SETTLED)).remove(batch)


def _find_old(**filters: object) -> QuerySet[Batch]:
    return Batch.objects.filter(updated__lt=timezone.now() - UNORDERED, **filters)


def _unordered_batches() -> QuerySet[Batch]:
    """Cancelled ones only where nothing of them was ordered before."""
    return _find_old().exclude(status__in=DONE).exclude(rows__order__isnull=False)


def _left_rows() -> QuerySet[BatchRow]:
    """Rows that were in error or failed, of batches that were ordered otherwise; and of orders that are gone."""
    return BatchRow.objects.filter(order=None, batch__in=_find_old().exclude(status=BatchStatus.ORDERING))


def _find_empty() -> QuerySet[Batch]:
    return _find_old(status=BatchStatus.ORDERED, rows=None)
