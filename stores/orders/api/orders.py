"""The API's operations that place, read, cancel and move single orders."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api.idempotency import idempotent
from fulfillment.core.api.access import Access
from fulfillment.core.api.responses import concurrency_errors, is_unchanged, matching_tags, not_modified
from fulfillment.core.api.serializers import validate_data
from fulfillment.core.api.viewsets import ApiViewSet
from stores.catalog.api.stores import NO_STORE, STORE_ID
from stores.orders.api.actions import (
    LONG_ERRORS,
    NOT_FOUND,
    ORDER_ID,
    ORDERING,
    WRITE_ERRORS,
    act_on_order,
    on_order,
    order_response,
    slot_if_long,
)
from stores.orders.api.examples import (
    CANCEL_EXAMPLE,
    HISTORY_EXAMPLE,
    ORDER_EXAMPLE,
    ORDER_EXAMPLES,
    REFUSAL_EXAMPLE,
    STATUS_EXAMPLE,
    TRANSITIONS,
)
from stores.orders.api.quotes import NO_ASSOCIATION
from stores.orders.api.serializers import (
    CancelRequestSerializer,
    HistorySerializer,
    OrderSerializer,
    RefusalRequestSerializer,
    StatusRequestSerializer,
)
from stores.orders.models import CancellationState
from stores.orders.representations import history_record, order_etag
from stores.orders.request_bodies import order_request_of
from stores.orders.request_fields import OrderRequestSerializer
from stores.orders.selectors.access import READ, WORK, WRITE, StoreAccess, authorize_store
from stores.orders.selectors.orders import history_of, order_for
from stores.orders.services.cancellation import cancel_order, refuse_cancellation
from stores.orders.services.changes import actor_of
from stores.orders.services.orders import PreparedOrder, create_order, discard_order, prepare_order
from stores.orders.services.simulation import advance_order
from stores.orders.services.transitions import Parcel, transition_order

OWN_WRITE = (
    "Callers change their own orders. With `Order.All.Write`, they change every order of the store. The demo "
    "store is open to everyone."
)
MOVE_RULE = "Users who hold `Order.All.Write` on the store may call it, and operators."
STAFF = Access(rule=MOVE_RULE, permissions=WORK, is_for_applications=False)
MOVE = Access(
    rule=f"{MOVE_RULE} An application may call it if its association with the store grants `Order.All.Write`.",
    permissions=WORK,
)
OWN_READ = Access(
    rule=(
        "Callers read their own orders. With `Order.All.Read`, they read every order of the store. The demo store "
        "is open to everyone."
    ),
    permissions=READ,
)


class OrderViewSet(ApiViewSet):
    tag = "Orders"
    access = {
        "create": ORDERING,
        "retrieve": OWN_READ,
        "history": OWN_READ,
        "cancel": Access(rule=OWN_WRITE, permissions=WRITE),
        "advance": Access(rule=OWN_WRITE, permissions=WRITE),
        "status": MOVE,
        "refuse_cancellation": STAFF,
    }
    errors = {
        "create": {
            400: f"{NO_STORE}. Or the order breaks a rule for quotes, or `quote_mismatch`, `option_unknown` or "
            "`template_data_not_allowed`. Or its template data cannot be printed. Or its print files together have "
            "more than 512 MB or take more than 20 seconds, 10 at the demo store (`order_too_large`). `Errors` points "
            "at each mistake. Or preflight found an error (`preflight_failed`, with all findings as `Preflight`).",
            403: NO_ASSOCIATION,
            404: "Nothing exists at this URL.",
            409: "The ExternalID is taken (`external_id_exists`, with the `OrderID` if the order is yours). The quote "
            "has expired (`quote_expired`, with a new `Quote`). The template cannot be rendered "
            "(`template_unusable`). The order exceeds a budget (`budget_exceeded`, with the numbers as `Budgets`). "
            "Or a request with the same `Idempotency-Key` is in progress (`request_in_progress`).",
            **concurrency_errors("orders with print files, or of more than 20 items or 1,000 routes,"),
        },
        "retrieve": {
            400: NO_STORE + ".",
            403: NO_ASSOCIATION,
            404: NOT_FOUND,
            **LONG_ERRORS,
        },
        "history": {400: NO_STORE + ".", 403: NO_ASSOCIATION, 404: NOT_FOUND},
        "cancel": {
            **WRITE_ERRORS,
            409: "It is too late to cancel (`order_not_cancellable`), or the store refused (`cancellation_refused`).",
        },
        "advance": {
            **WRITE_ERRORS,
            409: (
                "The order is neither a test order nor in the demo store (`not_demo_store`), or it has no "
                "next status."
            ),
        },
        "status": {
            **WRITE_ERRORS,
            409: "The current status does not allow this transition (`status_not_allowed`), or the order cannot be "
            "accepted: it is not approved (`approval_pending`), or its recipient was erased (`recipient_erased`).",
        },
        "refuse_cancellation": {
            **WRITE_ERRORS,
            409: "No cancellation was requested (`cancellation_not_requested`).",
        },
    }

    def _authorize(self, request: Request, store_id: str) -> StoreAccess:
        return authorize_store(request.auth, store_id, WRITE)

    def _prepare(self, request: Request, store_id: str) -> tuple[StoreAccess, PreparedOrder]:
        access = self._authorize(request, store_id)
        body = validate_data(OrderRequestSerializer, request.data)
        return access, prepare_order(access=access, request=order_request_of(body))

    def _discard(self, prepared: tuple[StoreAccess, PreparedOrder]) -> None:
        discard_order(prepared=prepared[1])

    @extend_schema(
        operation_id="order_create",
        summary="Submit an order",
        description=(
            "In one step, the service checks and prices the order and renders its print files, or refuses "
            "it. Order an option of a quote, or send a delivery method and a speed. A placed order cannot be "
            "changed: cancel it and submit a new one."
        ),
        parameters=[STORE_ID],
        request=OrderRequestSerializer,
        responses={201: OrderSerializer},
        examples=ORDER_EXAMPLES,
    )
    @idempotent(prepare=_prepare, discard=_discard, access=_authorize)
    def create(self, request: Request, prepared: tuple[StoreAccess, PreparedOrder]) -> HttpResponse:
        access, checked = prepared
        placed = create_order(prepared=checked, actor=actor_of(access))
        response = order_response(
            placed.order, access, status=201, items=placed.items, messages=placed.messages
        )
        response["Location"] = f"/api/v1/store/{access.store.external_id}/order/{placed.order.pk}"
        return response

    @extend_schema(
        operation_id="order_read",
        summary="Read an order",
        parameters=[STORE_ID, ORDER_ID],
        responses={200: OrderSerializer},
        examples=[ORDER_EXAMPLE],
    )
    def retrieve(self, request: Request, store_id: str, order_id: str) -> HttpResponse:
        access, order = order_for(request.auth, store_id, order_id, READ)
        if is_unchanged(request, order_etag(order)):
            return not_modified(order_etag(order))
        with slot_if_long(request, order):
            return order_response(order, access)

    @extend_schema(
        operation_id="order_history",
        summary="Read the history of an order",
        parameters=[STORE_ID, ORDER_ID],
        responses={200: HistorySerializer(many=True)},
        examples=[HISTORY_EXAMPLE],
    )
    def history(self, request: Request, store_id: str, order_id: str) -> Response:
        _, order = order_for(request.auth, store_id, order_id, READ)
        return Response([history_record(entry) for entry in history_of(order)])

    @on_order(
        operation_id="order_cancel",
        summary="Cancel an order",
        description=(
            "The order is cancelled at once (200) while its approval is pending, and before production "
            "until `CancellableUntil`. Later the store decides (202), and `Cancellation` shows its "
            "decision. A repeated request changes nothing."
        ),
        request=CancelRequestSerializer,
        responses={200: OrderSerializer, 202: OrderSerializer},
        examples=[CANCEL_EXAMPLE, ORDER_EXAMPLE],
    )
    def cancel(self, request: Request, store_id: str, order_id: str) -> HttpResponse:
        access, order = order_for(request.auth, store_id, order_id, WRITE)
        reason = validate_data(CancelRequestSerializer, request.data).get("Reason", "")
        with slot_if_long(request, order):
            order = cancel_order(
                order=order, actor=actor_of(access), reason=reason, if_match=matching_tags(request)
            )
            is_requested = order.cancellation == CancellationState.REQUESTED
            return order_response(order, access, status=202 if is_requested else 200)

    @on_order(
        operation_id="order_cancel_refuse",
        summary="Refuse to cancel an order",
        description="Refuses a requested cancellation. To accept it, set the status 90.",
        request=RefusalRequestSerializer,
        examples=[REFUSAL_EXAMPLE, ORDER_EXAMPLE],
    )
    def refuse_cancellation(self, request: Request, store_id: str, order_id: str) -> HttpResponse:
        return act_on_order(
            request,
            (store_id, order_id, WORK),
            RefusalRequestSerializer,
            lambda values, target: refuse_cancellation(note=values.get("Note", ""), **target),
        )

    @on_order(
        operation_id="order_status",
        summary="Move an order to a status",
        description=(
            f"An order can move from each status to these:\n\n{TRANSITIONS}\n\nAn order in production becomes "
            "Cancelled only after a cancellation request. Sending the current status again changes nothing, except "
            "that 50 and 60 add new shipments."
        ),
        request=StatusRequestSerializer,
        examples=[STATUS_EXAMPLE, ORDER_EXAMPLE],
    )
    def status(self, request: Request, store_id: str, order_id: str) -> HttpResponse:
        return act_on_order(
            request,
            (store_id, order_id, WORK),
            StatusRequestSerializer,
            lambda values, target: transition_order(
                status=values["Status"], note=values.get("Note", ""), parcels=_parcels_of(values), **target
            ),
        )

    @on_order(
        operation_id="order_advance",
        summary="Move a test order to its next status",
        description=(
            "Advances a test order of any store, or an order of the demo store: Received, Accepted, "
            "InProduction, Shipped with a parcel, Delivered. Sends the same events as for a real order. "
            "Nothing is produced."
        ),
        request=None,
        examples=[ORDER_EXAMPLE],
    )
    def advance(self, request: Request, store_id: str, order_id: str) -> HttpResponse:
        access, order = order_for(request.auth, store_id, order_id, WRITE)
        with slot_if_long(request, order):
            order = advance_order(order=order, actor=actor_of(access), if_match=matching_tags(request))
            return order_response(order, access)


def _parcels_of(values: Mapping[str, Any]) -> list[Parcel]:
    return [
        Parcel(
            carrier=shipment["Carrier"],
            tracking_number=shipment["TrackingNumber"],
            tracking_url=shipment.get("TrackingURL", ""),
            item_keys=tuple(shipment.get("ItemKeys", ())),
            shipped=shipment.get("Shipped"),
        )
        for shipment in values.get("Shipments", ())
    ]
