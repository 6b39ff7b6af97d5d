"""A batch from its start over checks and approval to its orders; the rows have operations of their own."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.idempotency import idempotent
from fulfillment.core.api.access import Access
from fulfillment.core.api.responses import concurrency_errors
from fulfillment.core.api.serializers import validate_data
from fulfillment.core.api.viewsets import ApiViewSet
from stores.batches.api.examples import (
    APPROVE_EXAMPLE,
    BATCH_EXAMPLE,
    CANCEL_EXAMPLE,
    CHANGE_EXAMPLE,
    DENY_EXAMPLE,
    ORDER_EXAMPLE,
    REQUEST_EXAMPLE,
)
from stores.batches.api.representations import batch_record
from stores.batches.api.serializers import (
    BatchChangeSerializer,
    BatchNoteSerializer,
    BatchOrderSerializer,
    BatchRequestSerializer,
    BatchSerializer,
)
from stores.batches.models import Batch
from stores.batches.selectors.batches import batch_for, find_batch
from stores.batches.services.approvals import approve_batch, deny_batch
from stores.batches.services.batches import cancel_batch, change_batch, create_batch, start_check
from stores.batches.services.ordering import order_batch, refuse_outdated
from stores.catalog.api.stores import NO_STORE, STORE_ID
from stores.orders.api.actions import ORDERING
from stores.orders.api.approvals import APPROVERS
from stores.orders.api.quotes import NO_ASSOCIATION
from stores.orders.api.serializers import DenyRequestSerializer
from stores.orders.selectors.access import APPROVE, READ, WRITE, StoreAccess, authorize_store
from stores.orders.services.changes import actor_of

BATCH_ID = OpenApiParameter("batch_id", str, OpenApiParameter.PATH, description="The BatchID.")
OWN = (
    "Callers {use} their own batches. With `{all}`, they {use} every batch of the store. The demo store is open "
    "to everyone."
)
OWN_READ = Access(rule=OWN.format(use="read", all="Order.All.Read"), permissions=READ)
OWN_WRITE = Access(rule=OWN.format(use="change", all="Order.All.Write"), permissions=WRITE)
NOT_FOUND = "There is no such batch for this caller (`batch_not_found`)."
COMMON = {400: NO_STORE + ", or the body breaks a rule.", 403: NO_ASSOCIATION, 404: NOT_FOUND}
CHANGES = {**COMMON, **concurrency_errors("changes of batches")}
SETTLED = "The batch is ordered (`batch_ordered`) or cancelled (`batch_cancelled`)"
DECISION = {
    **CHANGES,
    403: f"{NO_ASSOCIATION} Or the caller ordered the batch (`approver_ordered`).",
    409: (
        "The approval was decided or has expired (`approval_decided`), or none was requested "
        "(`approval_not_requested`). Approving also fails if the batch now exceeds a budget whose limit was lowered "
        "(`budget_exceeded`, with the numbers as `Budgets`)."
    ),
}
# The fields of Batch by the members of a request.
MEMBERS = {
    "Mode": "mode",
    "Name": "name",
    "Quantity": "quantity",
    "DeliveryMethodCode": "delivery_method_code",
    "ProductionDays": "production_days",
    "Recipient": "recipient",
    "Mapping": "mapping",
}


on_batch = partial(extend_schema, parameters=[STORE_ID, BATCH_ID], responses={200: BatchSerializer})


class BatchViewSet(ApiViewSet):
    tag = "Batches"
    access = {
        "create": ORDERING,
        "retrieve": OWN_READ,
        "partial_update": OWN_WRITE,
        "check": OWN_WRITE,
        "order": OWN_WRITE,
        "cancel": OWN_WRITE,
        "approve": APPROVERS,
        "deny": APPROVERS,
    }
    errors = {
        "create": {
            400: f"{NO_STORE}, or the body breaks a rule: `product_unknown`, `target_unknown`, `mapping_unknown`.",
            403: NO_ASSOCIATION,
            404: "Nothing exists at this URL.",
            409: "You have reached the limit for open batches (`too_many_batches`).",
        },
        "retrieve": COMMON,
        "partial_update": {
            **CHANGES,
            400: f"{NO_STORE}, or the body breaks a rule: `target_unknown`, `column_unknown`.",
            409: f"{SETTLED}, or you keep 50 mappings in the store (`too_many_mappings`).",
        },
        "check": {**CHANGES, 409: f"{SETTLED}, or has no rows (`batch_empty`)."},
        "order": {
            **CHANGES,
            409: f"{SETTLED}. It has no rows (`batch_empty`), rows that are not checked (`batch_not_checked`) or "
            "rows in error (`batch_has_errors`). Its check is outdated (`batch_outdated`): the service checks "
            "its `Rows` again. Or the batch exceeds a budget (`budget_exceeded`, with the numbers as `Budgets`).",
        },
        "cancel": {**CHANGES, 409: "All rows are ordered (`batch_ordered`)."},
        "approve": DECISION,
        "deny": DECISION,
    }

    def _authorize(self, request: Request, store_id: str, batch_id: str = "") -> StoreAccess:
        return authorize_store(request.auth, store_id, WRITE)

    def _prepare_order(self, request: Request, store_id: str, batch_id: str) -> tuple[StoreAccess, Batch]:
        """A check that no longer holds begins again, also when the order is refused."""
        access, batch = batch_for(request.auth, store_id, batch_id, WRITE)
        refuse_outdated(batch=batch)
        return access, batch

    @extend_schema(
        operation_id="batch_create",
        summary="Create a batch",
        description=(
            "After this, `PUT` the rows. The service checks and renders each row before it orders anything."
        ),
        parameters=[STORE_ID],
        request=BatchRequestSerializer,
        responses={201: BatchSerializer},
        examples=[REQUEST_EXAMPLE, BATCH_EXAMPLE],
    )
    @idempotent(access=_authorize)
    def create(self, request: Request, store_id: str) -> Response:
        access = self._authorize(request, store_id)
        values = validate_data(BatchRequestSerializer, request.data)
        mapping_name = values.get("MappingName", "")
        batch = create_batch(
            access=access,
            product_id=values["ProductID"],
            values=_fields_in(values),
            mapping_name=mapping_name,
        )
        return batch_response(access, batch, status=201, headers=_location_header(batch))

    @on_batch(
        operation_id="batch_read",
        summary="Read a batch",
        description="Includes the number of rows in each state and the progress of the check.",
        examples=[BATCH_EXAMPLE],
    )
    def retrieve(self, request: Request, store_id: str, batch_id: str) -> Response:
        _, batch = batch_for(request.auth, store_id, batch_id, READ)
        return Response(batch_record(batch))

    @on_batch(
        operation_id="batch_update",
        summary="Change a batch",
        description="Send only the members to change. Affected rows are checked again.",
        request=BatchChangeSerializer,
        examples=[CHANGE_EXAMPLE, BATCH_EXAMPLE],
    )
    def partial_update(self, request: Request, store_id: str, batch_id: str) -> Response:
        access, batch = batch_for(request.auth, store_id, batch_id, WRITE)
        values = validate_data(BatchChangeSerializer, request.data)
        mapping_name = values.get("MappingName", "")
        changed = change_batch(batch=batch, values=_fields_in(values), mapping_name=mapping_name)
        return batch_response(access, changed)

    @on_batch(
        operation_id="batch_check",
        summary="Check all rows of a batch again",
        description="Uses the current product, template and prices. Existing renderings are reused.",
        request=None,
        responses={202: BatchSerializer},
        examples=[BATCH_EXAMPLE],
    )
    def check(self, request: Request, store_id: str, batch_id: str) -> Response:
        access, batch = batch_for(request.auth, store_id, batch_id, WRITE)
        return batch_response(access, start_check(batch=batch), status=202)

    @on_batch(
        operation_id="batch_order",
        summary="Order a batch",
        description=(
            "Orders at the prices of the check. Budgets are reserved at once for the whole batch, and one "
            "approval covers it. Then each order is created exactly once. A row that fails gives the "
            "reason."
        ),
        request=BatchOrderSerializer,
        responses={202: BatchSerializer},
        examples=[ORDER_EXAMPLE, BATCH_EXAMPLE],
    )
    @idempotent(prepare=_prepare_order, access=_authorize)
    def order(self, request: Request, prepared: tuple[StoreAccess, Batch]) -> Response:
        access, batch = prepared
        values = validate_data(BatchOrderSerializer, request.data)
        ordered = order_batch(
            batch=batch,
            actor=actor_of(access),
            external_id=values.get("ExternalID", ""),
            only_ready=values.get("OnlyReady", False),
        )
        return batch_response(access, ordered, status=202, headers=_location_header(ordered))

    @on_batch(
        operation_id="batch_cancel",
        summary="Cancel the rest of a batch",
        description="Existing orders stay; cancel them one by one. A repeated request changes nothing.",
        request=BatchNoteSerializer,
        examples=[CANCEL_EXAMPLE, BATCH_EXAMPLE],
    )
    def cancel(self, request: Request, store_id: str, batch_id: str) -> Response:
        access, batch = batch_for(request.auth, store_id, batch_id, WRITE)
        note = validate_data(BatchNoteSerializer, request.data).get("Note", "")
        return batch_response(access, cancel_batch(batch=batch, note=note))

    @on_batch(
        operation_id="batch_approve",
        summary="Approve a batch",
        description="One approval covers all orders of the batch, which are then created.",
        request=BatchNoteSerializer,
        examples=[APPROVE_EXAMPLE, BATCH_EXAMPLE],
    )
    def approve(self, request: Request, store_id: str, batch_id: str) -> Response:
        access, batch = batch_for(request.auth, store_id, batch_id, APPROVE)
        note = validate_data(BatchNoteSerializer, request.data).get("Note", "")
        return batch_response(access, approve_batch(batch=batch, actor=actor_of(access), note=note))

    @on_batch(
        operation_id="batch_deny",
        summary="Deny the approval of a batch",
        description="The batch becomes Cancelled with the reason, and releases its budget reservations.",
        request=DenyRequestSerializer,
        examples=[DENY_EXAMPLE, BATCH_EXAMPLE],
    )
    def deny(self, request: Request, store_id: str, batch_id: str) -> Response:
        access, batch = batch_for(request.auth, store_id, batch_id, APPROVE)
        reason = validate_data(DenyRequestSerializer, request.data)["Reason"]
        return batch_response(access, deny_batch(batch=batch, actor=actor_of(access), reason=reason))


def _fields_in(values: Mapping[str, Any]) -> dict[str, Any]:
    return {field: values[member] for member, field in MEMBERS.items() if member in values}


def _location_header(batch: Batch) -> dict[str, str]:
    """By the address, an erasure finds the stored response as well."""
    return {"Location": f"/api/v1/store/{batch.store.external_id}/batch/{batch.pk}"}


def batch_response(access: StoreAccess, batch: Batch, **options: Any) -> Response:
    """The batch as it is now, with what its service changed in the database."""
    return Response(batch_record(find_batch(access, str(batch.pk))), **options)
