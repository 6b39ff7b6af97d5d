from django.http import HttpResponse
from rest_framework.request import Request

from fulfillment.core.api.access import Access
from fulfillment.core.api.viewsets import ApiViewSet
from stores.orders.api.actions import WRITE_ERRORS, act_on_order, on_order
from stores.orders.api.examples import APPROVE_EXAMPLE, DENY_EXAMPLE, ORDER_EXAMPLE
from stores.orders.api.serializers import ApproveRequestSerializer, DenyRequestSerializer
from stores.orders.selectors.access import APPROVE
from stores.orders.services.approvals import approve_order, deny_order

APPROVERS = Access(
    rule="Users who hold `Order.All.Approve` on the store may call it, and operators. The person who placed the "
    "order may not. If an application placed it, its owners may not.",
    permissions=APPROVE,
    is_for_applications=False,
)
ERRORS = {
    **WRITE_ERRORS,
    403: f"{WRITE_ERRORS[403]} Or the caller placed the order (`approver_ordered`).",
    409: (
        "The approval was decided or has expired (`approval_decided`), or none was requested "
        "(`approval_not_requested`). When approving: a limit was lowered, and the order exceeds it "
        "(`budget_exceeded`, with the numbers as `Budgets`)."
    ),
}


class ApprovalViewSet(ApiViewSet):
    tag = "Orders"
    access = {"approve": APPROVERS, "deny": APPROVERS}
    errors = {"approve": ERRORS, "deny": ERRORS}

    @on_order(
        operation_id="order_approve",
        summary="Approve an order",
        description="The order stays Received and can be accepted.",
        request=ApproveRequestSerializer,
        examples=[APPROVE_EXAMPLE, ORDER_EXAMPLE],
    )
    def approve(self, request: Request, store_id: str, order_id: str) -> HttpResponse:
        return act_on_order(
            request,
            (store_id, order_id, APPROVE),
            ApproveRequestSerializer,
            lambda values, target: approve_order(note=values.get("Note", ""), **target),
        )

    @on_order(
        operation_id="order_deny",
        summary="Deny the approval of an order",
        description="The order becomes Rejected with the reason. To try again, place a new order.",
        request=DenyRequestSerializer,
        examples=[DENY_EXAMPLE, ORDER_EXAMPLE],
    )
    def deny(self, request: Request, store_id: str, order_id: str) -> HttpResponse:
        return act_on_order(
            request,
            (store_id, order_id, APPROVE),
            DenyRequestSerializer,
            lambda values, target: deny_order(reason=values["Reason"], **target),
        )
