"""The page of an order: items, recipient, timeline and allowed transitions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.admin.staff import staff_on
from applications.webhooks.selectors.deliveries import events_of_order
from fulfillment.core.admin.confirmation import confirmation_page
from fulfillment.core.plugins import offered_values
from fulfillment.core.recorded_texts import translated
from fulfillment.core.web_addresses import web_address
from stores.orders.admin.steps import REFUSE, STEPS
from stores.orders.models import Order, OrderStatus
from stores.orders.models.status import OPEN_STATUSES, WITH_SHIPMENTS, CancellationState
from stores.orders.selectors.access import APPROVE
from stores.orders.selectors.approvals import decision_on
from stores.orders.selectors.board import days_late
from stores.orders.services.packing_slips import address_lines

ITEMS_OF_A_PAGE = 50
MAX_LISTED_EVENTS = 200
# Final transitions, with the question of their confirmation.
FINAL: dict[str, dict[str, Any]] = {
    str(int(OrderStatus.CANCELLED)): {
        "question": gettext_lazy("Cancel this order? This cannot be undone."),
        "button": gettext_lazy("Cancel the order"),
    },
    str(int(OrderStatus.REJECTED)): {
        "question": gettext_lazy("Reject this order? This cannot be undone."),
        "button": gettext_lazy("Reject the order"),
    },
    REFUSE: {
        "question": gettext_lazy(
            "Refuse to cancel this order? After a refusal, cancellation cannot be requested again."
        ),
        "button": gettext_lazy("Refuse"),
    },
}
WITH_PARCELS = {str(int(status)) for status in WITH_SHIPMENTS}


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """An entry of the timeline; `links` are (text, URL). Line breaks of comments are kept."""

    when: datetime
    title: str
    detail: str = ""
    links: tuple[tuple[str, str], ...] = ()
    is_comment: bool = False


def order_page(request: HttpRequest, order: Order, form: Any) -> dict[str, Any]:
    choices = form.fields["move_to"].choices if "move_to" in form.fields else []
    moves, decisions = _list_moves(order, [value for value, _ in choices if value])
    now = timezone.now()
    shipments = _list_shipments(order)
    return {
        "order": order,
        "status": OrderStatus(order.status).shown,
        "late": days_late(order, now) if order.status in OPEN_STATUSES else 0,
        "is_cancellable": order.status in OPEN_STATUSES and order.cancellable_until > now,
        "moves": moves,
        "decisions": decisions,
        "is_to_decide": order.cancellation == CancellationState.REQUESTED and bool(decisions),
        "takes_parcels": any(move["value"] in WITH_PARCELS for move in moves),
        "is_operator": staff_on(request).is_operator,
        "approval": decision_on(order),
        "may_approve": staff_on(request).holds(APPROVE, order.store_id),
        "address": address_lines(order.recipient),
        "contacts": [order.recipient[name] for name in ("Phone", "Email") if order.recipient.get(name)],
        "items": _page_of_items(order, request.GET.get("items")),
        "shipments": shipments,
        "sections": [
            card
            for sections in offered_values("order_page", "order_sections")
            for card in sections(request, order)
        ],
        "timeline": _make_timeline(request, order, shipments),
        "reprint_of": order.reprint_of,
        "reprints": order.reprints.order_by("number")[:MAX_LISTED_EVENTS],
        "takes_comments": not order.recipient_erased,
        "may_reprint": not order.recipient_erased,
    }


def _page_of_items(order: Order, number: str | None) -> Page:
    items = order.items.select_related("product").order_by("position")
    items = items.defer("product__template", "product__rendering", "product__verbose_rendering")
    pages = Paginator(items, ITEMS_OF_A_PAGE)
    pages.count = order.item_count
    return pages.get_page(number)


def _list_moves(order: Order, values: Sequence[str]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The buttons, the usual next step first, and apart from them those that end the order or a request."""
    moves = [_make_move(order, value) for value in values if value not in FINAL]
    if order.cancellation != CancellationState.REQUESTED:
        moves.sort(key=lambda move: not move["look"])
        for move in moves[1:]:
            move["look"] = ""
    else:
        moves = [move | {"look": ""} for move in moves]
    return moves, [
        {"value": value, "name": STEPS[value].verb, **FINAL[value]} for value in values if value in FINAL
    ]


def _make_move(order: Order, value: str) -> dict[str, Any]:
    is_same = value == str(order.status)
    step = STEPS[value]
    look = "console-primary" if step.is_forward and not is_same else ""
    return {"value": value, "name": _("Add a parcel") if is_same else step.verb, "look": look}


def decision_page(
    model_admin: Any, request: HttpRequest, action: str, orders: QuerySet[Order]
) -> TemplateResponse | None:
    """The dialog of the order's page as a page, where no script opens it; None also without such an order."""
    if (order := orders.first()) is None:
        return None
    page = confirmation_page(
        model_admin, request, **FINAL[action], details="admin/stores/order_decision.html"
    )
    if page is None or page.context_data is None:
        return page
    page.context_data |= {
        "original": order,
        "order": order,
        "address": address_lines(order.recipient),
        "note": request.POST.get("note", ""),
        "sent": [(name, value) for name, value in page.context_data["sent"] if name != "note"],
    }
    return page


def _list_shipments(order: Order) -> list[dict[str, Any]]:
    """The shipments; a tracking URL becomes a link only if it is http or https."""
    return [
        {
            "shipment": shipment,
            "link": shipment.tracking_url if web_address(shipment.tracking_url) else "",
        }
        for shipment in order.shipments.order_by("-shipped")[:MAX_LISTED_EVENTS]
    ]


def _make_timeline(
    request: HttpRequest, order: Order, shipments: list[dict[str, Any]]
) -> list[TimelineEntry]:
    entries = [
        TimelineEntry(
            entry.timestamp,
            OrderStatus(entry.status).shown if entry.previous_status != entry.status else _("Note"),
            " · ".join(
                part
                for part in (str(entry.actor or entry.get_actor_kind_display()), translated(entry.note))
                if part
            ),
        )
        for entry in order.history.select_related("actor").order_by("-sequence")[:MAX_LISTED_EVENTS]
    ]
    entries += [
        TimelineEntry(shipment["shipment"].shipped, _("Parcel sent"), str(shipment["shipment"]))
        for shipment in shipments
    ]
    entries += [
        TimelineEntry(
            comment.created, str(comment.author or _("A deleted user")), comment.text, is_comment=True
        )
        for comment in order.comments.select_related("author").order_by("-id")[:MAX_LISTED_EVENTS]
    ]
    # Webhook URLs are not shown to stores: they concern only the application and the operators.
    if staff_on(request).is_operator:
        entries += _list_events(order)
    return sorted(entries, key=lambda entry: entry.when, reverse=True)


def _list_events(order: Order) -> list[TimelineEntry]:
    """The events that a webhook was to receive."""
    return [
        TimelineEntry(
            event.timestamp,
            _("Event %(type)s") % {"type": event.type},
            links=tuple(
                (
                    _("%(state)s to %(url)s")
                    % {"state": delivery.get_state_display(), "url": delivery.webhook.url},
                    reverse("admin:applications_delivery_change", args=[delivery.pk]),
                )
                for delivery in event.deliveries.all()
            ),
        )
        for event in events_of_order(order.pk)[:MAX_LISTED_EVENTS]
        if event.deliveries.all()
    ]
