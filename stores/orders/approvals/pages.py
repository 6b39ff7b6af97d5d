"""A person's own orders that needed approval, and what became of them."""

from typing import Any
from uuid import UUID

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.pages.guards import signed_in, signed_in_user
from stores.orders.approvals.notices import reason_in_words
from stores.orders.approvals.selectors import approver_names, requests_of
from stores.orders.models import ApprovalState, OrderItem

A_PAGE = 25
BADGES = {
    ApprovalState.PENDING: "badge-warning",
    ApprovalState.APPROVED: "badge-good",
    ApprovalState.DENIED: "badge-bad",
    ApprovalState.EXPIRED: "badge-bad",
}


@require_safe
@signed_in
def list_requests(request: HttpRequest) -> HttpResponse:
    found = requests_of(signed_in_user(request)).order_by("-requested")
    page = Paginator(found, A_PAGE).get_page(request.GET.get("page"))
    rows = [_row(one) for one in page]
    return render(request, "stores/approvals/list.html", {"page": page, "rows": rows, "part": "catalog"})


@require_safe
@signed_in
def show_request(request: HttpRequest, order_id: UUID) -> HttpResponse:
    found = requests_of(signed_in_user(request)).filter(pk=order_id).first()
    if found is None:
        raise Http404(_("There is no such order, or it needed no approval."))
    context = {
        **_row(found),
        "items": found.order.items.order_by("position").defer(*OrderItem.LARGE)[:100],
        "part": "catalog",
        "approvers": approver_names(found.order.store_id, found.ordered_by),
    }
    return render(request, "stores/approvals/request.html", context)


def _row(found: Any) -> dict[str, Any]:
    state = ApprovalState(found.order.approval)
    return {
        "request_": found,
        "order": found.order,
        "state": state.label,
        "badge": BADGES[state],
        "is_pending": state == ApprovalState.PENDING,
        "reasons": [reason_in_words(reason) for reason in found.reasons],
    }
