"""Who ordered, who may approve, and which requests are undecided."""

from collections.abc import Collection, Sequence
from decimal import Decimal
from typing import Any, Protocol
from uuid import UUID

from django.db.models import Q, QuerySet

from accounts.models import User
from accounts.permissions import Permission
from accounts.selectors.staff import people_with
from applications.registration.models import Application
from applications.registration.selectors.applications import own_applications
from applications.registration.selectors.owners import owner_ids
from fulfillment.core.db.prepared import fetch_rows
from fulfillment.core.text import timestamp
from stores.catalog.models import Store
from stores.orders.models import ApprovalRequest, ApprovalState, Order

# One digest of all items of an order. PostgreSQL computes it, because the values of 25 orders could take more than a
# gigabyte in this process.
DIGESTS = """
SELECT order_id, encode(sha256(convert_to(string_agg(item, '' ORDER BY position), 'UTF8')), 'hex')
FROM (
    SELECT order_id, position, encode(sha256(convert_to(jsonb_build_array(
        product_id, product_version, quantity, unit_price, template_data, artwork, eddm
    )::text, 'UTF8')), 'hex') AS item
    FROM stores_orderitem WHERE order_id = ANY(%s)
) AS items
GROUP BY order_id
"""


class Ordered(Protocol):
    """An order, or a batch of them."""

    user_id: UUID | None
    application: Any


def people_who_ordered(order: Ordered) -> set[UUID]:
    """The user, and the owners of the application."""
    return people_behind(order.application) | ({order.user_id} if order.user_id else set())


def people_behind(application: Application | None) -> set[UUID]:
    """The owners, who control what the application orders; none for a built-in one."""
    if application is None or application.is_first_party:
        return set()
    people = [application.user_id, *owner_ids(application)]
    return {person for person in people if person is not None}


def approver_ids(store_id: int, ordered_by: Collection[UUID]) -> list[UUID]:
    """Active users with the grant on the store, without those who ordered."""
    people = people_with((Permission.ORDER_ALL_APPROVE,), store_id=store_id)
    return [person for person in people if person not in ordered_by]


def approver_names(store_id: int, ordered_by: Collection[UUID]) -> list[str]:
    people = User.objects.filter(pk__in=approver_ids(store_id, ordered_by))
    return [person.full_name for person in people.order_by("first_name", "last_name")]


def exceeds_total(store: Store, total: Decimal) -> bool:
    return store.approval_above is not None and total > store.approval_above


def total_reasons(store: Store, total: Decimal) -> list[dict[str, Any]]:
    """Why an order or a batch of this total needs approval, without its budgets."""
    if not exceeds_total(store, total):
        return []
    return [{"Kind": "Total", "Limit": store.approval_above, "Total": total}]


def requests_of(user: User) -> QuerySet[ApprovalRequest]:
    """Requests for the orders that the user placed, also through an application that is still theirs."""
    by_application = Q(
        ordered_by__contains=[user.pk], order__application__in=own_applications(user).values("pk")
    )
    placed = ApprovalRequest.objects.filter(Q(order__user=user) | by_application)
    orders = placed.select_related("order__store", "decided_by")
    return orders.defer("order__rendering", "order__store__rendering", "order__store__verbose_rendering")


def undecided_requests() -> QuerySet[ApprovalRequest]:
    """The undecided requests of all stores, the next to expire first."""
    return ApprovalRequest.objects.filter(decided__isnull=True).order_by("expires", "order")


def decision_on(order: Order) -> ApprovalRequest | None:
    """The decision with who took it, for the order's page; None if it never needed approval."""
    if order.approval == ApprovalState.NONE:
        return None
    return ApprovalRequest.objects.select_related("decided_by").get(pk=order.pk)


def approval_record(order: Order) -> dict[str, Any] | None:
    """The member `Approval` of an order; None if it never needed approval."""
    if order.approval == ApprovalState.NONE:
        return None
    return decision_record(order.approval_request, order.approval)


def decision_record(request: Any, state: str) -> dict[str, Any]:
    """`request` is that of an order or of a batch."""
    return {
        "State": state,
        "Reasons": request.reasons,
        "RequestedAt": timestamp(request.requested),
        "ExpiresAt": timestamp(request.expires),
        "DecidedBy": str(request.decided_by_id) if request.decided_by_id else None,
        "DecidedAt": timestamp(request.decided) if request.decided else None,
        "Note": request.note,
    }


def item_digests(order_ids: Sequence[UUID]) -> dict[UUID, str]:
    """Equal for orders whose items and prices are equal."""
    return dict(fetch_rows(DIGESTS, [order_ids])) if order_ids else {}
