"""The API's records of batches; stores.batches.api.serializers describes the same shapes."""

from collections.abc import Iterable, Mapping

from fulfillment.core.text import JsonObject, timestamp
from stores.batches.models import Batch, BatchRow, RowState
from stores.batches.selectors.batches import budget_decision, counts_of, seconds_left
from stores.batches.selectors.rows import proofs_of
from stores.budgets.standings import number
from stores.catalog.models import BudgetType
from stores.orders.selectors.approvals import decision_record
from stores.proofs.links import proof_urls
from stores.proofs.selectors import StoredProof


def batch_record(batch: Batch) -> JsonObject:
    counts, approval = counts_of(batch), getattr(batch, "approval", None)
    return {
        "BatchID": str(batch.pk),
        "StoreID": batch.store.external_id,
        "Name": batch.name,
        "ProductID": batch.product.external_id,
        "Mode": batch.mode,
        "Status": batch.status,
        "Quantity": batch.quantity,
        "DeliveryMethodCode": batch.delivery_method_code or None,
        "ProductionDays": batch.production_days,
        "Recipient": batch.recipient or None,
        "Columns": batch.columns,
        "Mapping": batch.mapping,
        "Matches": batch.matches,
        "FileProblems": batch.file_problems,
        "Counts": {state.value: counts.by_state.get(state, 0) for state in RowState},
        "Progress": {
            "Done": counts.checked,
            "Total": counts.rows,
            "SecondsLeft": seconds_left(batch, counts),
        },
        "Currency": batch.store.currency,
        "Total": number(BudgetType.AMOUNT, counts.total),
        "Pieces": counts.pieces,
        "PricesExpireAt": timestamp(batch.prices_expire) if batch.prices_expire else None,
        "BudgetDecision": budget_decision(batch, counts).value,
        "Approval": decision_record(approval, approval.state) if approval else None,
        "ExternalID": batch.external_id or None,
        "Note": batch.note,
        "IsTest": batch.is_test,
        "Created": timestamp(batch.created),
        "Updated": timestamp(batch.updated),
    }


def row_records(batch: Batch, rows: Iterable[BatchRow]) -> list[JsonObject]:
    listed = list(rows)
    proofs = proofs_of(listed)
    return [row_record(batch, row, proofs) for row in listed]


def row_record(batch: Batch, row: BatchRow, proofs: Mapping[str, StoredProof]) -> JsonObject:
    return {
        "RowKey": row.key,
        "Number": row.number,
        "Name": row.name,
        "State": row.state,
        "Values": row.values,
        "Quantity": row.quantity or None,
        "Total": number(BudgetType.AMOUNT, row.total),
        "Problems": row.problems,
        "Proof": _proof_record(proofs.get(row.proof), batch.product.external_id),
        "OrderID": str(row.order_id) if row.order_id else None,
    }


def _proof_record(proof: StoredProof | None, product_id: str) -> JsonObject | None:
    if proof is None:
        return None
    urls = proof_urls(proof, product_id)
    return {"PdfURL": urls.pdf, "PageURLs": urls.pages}
