"""Personal data in rows: exported and erased with their orders, or with the person who sent them."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import TextField
from django.db.models.functions import Cast

from accounts.models import User
from fulfillment.core.api.serializers import timestamp
from fulfillment.core.audit.personal_data import ERASED, PersonalData, Record
from stores.batches.models import Batch, BatchApproval, BatchMode, BatchRow, BatchStatus, ColumnMapping
from stores.orders.models import Order

# What is left of a row when its recipient is erased: its key, its state and its order.
ERASED_ROW: dict[str, Any] = {"name": "", "values": {}, "problems": [], "file_problems": [], "proof": ""}


def personal_data() -> list[PersonalData]:
    return [
        PersonalData("batches", _batches, _erase_batches),
        PersonalData("batch_approvals", _approvals),
        PersonalData("column_mappings", _mappings, _erase_mappings),
    ]


def erase_rows_of_order(*, order: Order) -> None:
    """Erases the rows that became the order, and the recipient that they share; their keys stay."""
    rows = BatchRow.objects.filter(order=order)
    for batch in Batch.objects.filter(mode=BatchMode.ITEMS, rows__in=rows).distinct():
        batch.recipient = dict.fromkeys(batch.recipient, ERASED)
        batch.save(update_fields=["recipient"])
    rows.update(**ERASED_ROW)


def erase_unordered_rows(*, words: Sequence[str], dry_run: bool = False) -> int:
    """Deletes the rows with all of these texts that are not ordered nor being ordered; returns how many."""
    rows = BatchRow.objects.filter(order=None).exclude(batch__status=BatchStatus.ORDERING)
    rows = rows.annotate(text=Cast("values", TextField()))
    for word in words:
        rows = rows.filter(text__icontains=word)
    if dry_run:
        return rows.count()
    deleted, _ = BatchRow.objects.filter(pk__in=list(rows.values_list("pk", flat=True))).delete()
    return deleted


def _batches(user: User) -> Iterator[Record]:
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
    """Of what was ordered the rows stay with their orders, which have an erasure of their own."""
    Batch.objects.filter(user=user).exclude(status__in=(BatchStatus.ORDERED, BatchStatus.ORDERING)).delete()


def _approvals(user: User) -> Iterator[Record]:
    for approval in BatchApproval.objects.filter(decided_by=user).order_by("decided"):
        yield {
            "BatchID": str(approval.pk),
            "Decided": timestamp(approval.decided or approval.requested),
            "Note": approval.note,
        }


def _mappings(user: User) -> Iterator[Record]:
    for mapping in ColumnMapping.objects.filter(user=user).order_by("name"):
        yield {"Name": mapping.name, "Mapping": mapping.mapping}


def _erase_mappings(user: User) -> None:
    ColumnMapping.objects.filter(user=user).delete()
