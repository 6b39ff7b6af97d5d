"""The orders of an application, with the events sent to it, and those that a person placed without one, with
their approvals."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.callers import Caller
from accounts.pages.guards import signed_in_page, signed_in_post, signed_in_user
from applications.registration.models import Application
from applications.registration.pages.frame import page_context, require_readable, require_writable
from fulfillment.core.errors import DomainError
from fulfillment.core.files.downloads import limited_pdf, picture_refusal, serves_picture
from fulfillment.core.http.dangerous import harmless
from fulfillment.core.page_messages import errors_as_messages
from fulfillment.core.text import parse_number
from stores.orders.models import ApprovalState, Order, OrderItem, OrderStatus
from stores.orders.representations import order_etag
from stores.orders.selectors.access import WRITE
from stores.orders.selectors.approvals import approver_names, requests_of
from stores.orders.selectors.orders import (
    OrdersAccess,
    events_sent_to,
    first_items_of,
    history_of,
    item_of,
    newest_orders,
    order_for,
    orders_access,
    orders_named,
    own_orders_access,
    visible_order,
)
from stores.orders.services.approval_notices import reason_in_words
from stores.orders.services.cancellation import can_be_cancelled, cancel_order
from stores.orders.services.changes import actor_of
from stores.orders.services.print_files import read_print_file
from stores.orders.services.simulation import advance_order, can_be_advanced, following_status
from stores.proofs.links import proof_urls
from stores.proofs.selectors import product_version_of
from stores.proofs.services.proofs import make_proof

ORDERS_A_PAGE, REQUESTS_A_PAGE = 25, 25
ITEMS_SHOWN = 100
ACTORS = {
    "Application": gettext_lazy("by an application"),
    "User": gettext_lazy("by a person"),
    "Store": gettext_lazy("by the store"),
    "Operator": gettext_lazy("by an operator"),
    "System": gettext_lazy("automatically"),
}
BADGES = {
    ApprovalState.PENDING: "badge-warning",
    ApprovalState.APPROVED: "badge-good",
    ApprovalState.DENIED: "badge-bad",
    ApprovalState.EXPIRED: "badge-bad",
}


@signed_in_page
def list_orders(request: HttpRequest, application_id: str | None = None) -> HttpResponse:
    _, access, context = _open_page(request, application_id)
    searched = request.GET.get("q", "").strip()[:100]
    if searched:
        orders = orders_named(access, searched, take=ORDERS_A_PAGE)
    else:
        number = parse_number(request.GET.get("before", ""))
        orders = newest_orders(access, before=number, take=ORDERS_A_PAGE + 1)
        context["is_first_page"] = number is None
        context["next_before"] = orders[ORDERS_A_PAGE - 1].number if len(orders) > ORDERS_A_PAGE else None
    shown = orders[:ORDERS_A_PAGE]
    firsts = first_items_of([order.pk for order in shown])
    context["orders"] = [{**_row(order), "first": firsts.get(order.pk)} for order in shown]
    context["searched"] = searched
    return render(request, "stores/orders/list.html", context)


@signed_in_page
def show_order(request: HttpRequest, order_id: str, application_id: str | None = None) -> HttpResponse:
    application, access, context = _open_page(request, application_id)
    order = visible_order(access, order_id)
    items = list(order.items.select_related("product").defer("product__template")[: ITEMS_SHOWN + 1])
    context |= {
        **_row(order),
        "items": [{"item": item, "has_proof": _has_proof(item)} for item in items[:ITEMS_SHOWN]],
        "more_items": order.item_count - ITEMS_SHOWN,
        "history": [
            {
                "words": OrderStatus(entry.status).shown,
                "is_move": entry.status != entry.previous_status,
                "entry": entry,
                "actor": ACTORS.get(entry.actor_kind, ""),
            }
            for entry in reversed(history_of(order))
        ],
        "shipments": list(order.shipments.all()),
        "recipient": {} if order.recipient_erased else order.recipient,
        "events": events_sent_to(application, order) if application else None,
        "can_be_cancelled": application is None and can_be_cancelled(order),
        "following": following_status(order) if context["may_write"] and can_be_advanced(order) else None,
        "version": order_etag(order),
        "repeatable": items[0] if application is None and _can_be_repeated(order, items) else None,
    }
    return render(request, "stores/orders/order.html", context)


@signed_in_post(harmless)
def advance_application_order(request: HttpRequest, application_id: str, order_id: str) -> HttpResponse:
    """Moves a test order, or one of the demo store, to its next status, as the application itself."""
    application = require_writable(request, application_id)
    order = visible_order(_open_page(request, application_id)[1], order_id)
    with errors_as_messages(request):
        access, order = order_for(
            Caller.of_application(application), order.store.external_id, str(order.pk), WRITE
        )
        # The displayed version, so that a second click does not advance the order twice.
        tags = [request.POST.get("version", "")]
        order = advance_order(order=order, actor=actor_of(access), if_match=tags)
        messages.success(
            request,
            _("Order %(number)s is %(words)s.")
            % {"number": order.number, "words": OrderStatus(order.status).shown.lower()},
        )
    return redirect("portal:application-order", application_id, order.pk)


@signed_in_post(harmless)
def cancel_own_order(request: HttpRequest, order_id: str) -> HttpResponse:
    user = signed_in_user(request)
    order = visible_order(own_orders_access(user), order_id)
    with errors_as_messages(request):
        access, order = order_for(Caller.on_pages(user), order.store.external_id, str(order.pk), WRITE)
        reason = request.POST.get("reason", "").strip()[:1000]
        order = cancel_order(order=order, actor=actor_of(access), reason=reason)
        text = _("The store decides whether order %(number)s is cancelled.")
        if order.status == OrderStatus.CANCELLED:
            text = _("Order %(number)s is cancelled.")
        messages.success(request, text % {"number": order.number})
    return redirect("portal:order", order.pk)


@serves_picture
@signed_in_page
def show_item_proof(
    request: HttpRequest, order_id: str, item_key: str, application_id: str | None = None
) -> HttpResponse:
    """The first page of an item's proof, as wide as requested, if the product has not changed since the order."""
    access, viewer = _open_page(request, application_id)[1], signed_in_user(request)
    item = item_of(visible_order(access, order_id), item_key)
    if not _has_proof(item):
        raise Http404(_("The template has changed since the order, or its values were erased."))
    try:
        proof = make_proof(
            # The viewer works, whose limits hold.
            caller=replace(Caller.who_made(item.order), person_id=viewer.responsible_id),
            product=product_version_of(item.product_id),
            values=item.template_data or {},
        )
    except DomainError as error:
        return picture_refusal(error)
    pages = proof_urls(proof, item.product_external_id).pages
    width = f"?{urlencode({'width': request.GET['width']})}" if "width" in request.GET else ""
    return redirect(pages[0].removeprefix(settings.PUBLIC_URL) + width)


@signed_in_page
def show_print_file(
    request: HttpRequest, application_id: str, order_id: str, item_key: str
) -> HttpResponseBase:
    _, access, _ = _open_page(request, application_id)
    item = item_of(visible_order(access, order_id), item_key)
    with limited_pdf(item.print_bytes, Caller.on_pages(signed_in_user(request)).key) as respond:
        try:
            content = read_print_file(item=item)
        except DomainError as error:
            raise Http404(error.message) from error
        return respond(content, f"{item.order.number}-{item.position + 1}.pdf")


def _open_page(
    request: HttpRequest, application_id: str | None
) -> tuple[Application | None, OrdersAccess, dict[str, Any]]:
    """The page; without an application, that of the person's own orders."""
    user = signed_in_user(request)
    if application_id is None:
        context: dict[str, Any] = {"part": "catalog", "may_write": False, "layout": "stores/orders/own.html"}
        return None, own_orders_access(user), context | {"list_address": reverse("portal:orders")}
    application = require_readable(request, application_id)
    context = page_context(request, application, "orders", layout="applications/base.html")
    access = orders_access(application, user, may_write=context["may_write"])
    context["sees_all"] = access.user_id is None
    context["list_address"] = reverse("portal:application-orders", args=[application_id])
    return application, access, context


def _row(order: Order) -> dict[str, Any]:
    return {"order": order, "words": OrderStatus(order.status).shown}


def _can_be_repeated(order: Order, items: Sequence[OrderItem]) -> bool:
    """Whether the product's page can take over the values: it orders one product, without a PDF of the person."""
    return len(items) == 1 and items[0].product.is_active and not (items[0].artwork or order.recipient_erased)


def _has_proof(item: OrderItem) -> bool:
    return bool(item.template_data and item.print_file and item.product.version == item.product_version)


@signed_in_page
def list_requests(request: HttpRequest) -> HttpResponse:
    requests = requests_of(signed_in_user(request)).order_by("-requested")
    page = Paginator(requests, REQUESTS_A_PAGE).get_page(request.GET.get("page"))
    rows = [_request_row(approval) for approval in page]
    return render(request, "stores/approvals/list.html", {"page": page, "rows": rows, "part": "catalog"})


@signed_in_page
def show_request(request: HttpRequest, order_id: UUID) -> HttpResponse:
    approval = requests_of(signed_in_user(request)).filter(pk=order_id).first()
    if approval is None:
        raise Http404(_("There is no such order, or it needed no approval."))
    context = {
        **_request_row(approval),
        "items": approval.order.items.order_by("position").defer(*OrderItem.LARGE)[:100],
        "part": "catalog",
        "approvers": approver_names(approval.order.store_id, approval.ordered_by),
    }
    return render(request, "stores/approvals/request.html", context)


def _request_row(approval: Any) -> dict[str, Any]:
    state = ApprovalState(approval.order.approval)
    return {
        "request_": approval,
        "order": approval.order,
        "state": state.label,
        "badge": BADGES[state],
        "is_pending": state == ApprovalState.PENDING,
        "reasons": [reason_in_words(reason) for reason in approval.reasons],
    }
