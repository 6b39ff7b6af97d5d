"""Template context of the order list: rows, tabs, filters, saved views."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.admin.staff import staff_on
from accounts.permissions import ORDER_GRANTS
from stores.catalog.admin.scoping import ChoiceFilter
from stores.catalog.models import Store
from stores.orders.admin.actions import statuses_to_choose
from stores.orders.admin.list_filters import COLUMNS, DUE, SORT, SORTS, VIEW, lists_work_alone, sort_of
from stores.orders.admin.steps import OF_ACTIONS, REFUSE
from stores.orders.models import CancellationState, Order, OrderItem, OrderStatus
from stores.orders.models.status import OPEN_STATUSES
from stores.orders.selectors.board import days_late, late_orders, order_views_for, orders_by_status
from stores.orders.selectors.orders import first_items_of

# In the order of the columns; the order number is always shown.
COLUMN_NAMES = {
    "status": gettext_lazy("Status"),
    "due": gettext_lazy("Due"),
    "placed": gettext_lazy("Placed"),
    "customer": gettext_lazy("Recipient"),
    "items": gettext_lazy("Items"),
    "total": gettext_lazy("Total"),
    "delivery": gettext_lazy("Delivery"),
    "store": gettext_lazy("Store"),
    "application": gettext_lazy("Application"),
    "external": gettext_lazy("ExternalID"),
    "updated": gettext_lazy("Changed"),
}
USUAL = ("status", "due", "placed", "customer", "total", "delivery", "store")
# Statuses with a tab of their own.
TABS = (*OPEN_STATUSES, OrderStatus.SHIPPED)
# Counts stop here; larger queues are shown as "more than".
MAX_COUNTED = 1000
FILTER_NAMES = (
    "due",
    "status__exact",
    "delivery",
    "product",
    "batch",
    "store",
    "cancellation__exact",
    "created_from",
    "created_to",
    "q",
)


@dataclass(frozen=True, slots=True)
class Row:
    order: Order
    status: str
    first: OrderItem | None
    late: int
    is_open: bool
    is_cancellation_requested: bool

    @property
    def moves(self) -> list[str]:
        """The names of the actions that this order allows."""
        values = [str(code) for code in statuses_to_choose(self.order)]
        values += [REFUSE] if self.is_cancellation_requested else []
        return [step.action for step in OF_ACTIONS.values() if step.value in values]

    @property
    def lateness(self) -> str:
        """How late an open order is, as text; empty for all others."""
        if not self.is_open:
            return ""
        if self.late > 0:
            return ngettext("%(days)s day late", "%(days)s days late", self.late) % {"days": self.late}
        ahead = ngettext("in %(days)s day", "in %(days)s days", -self.late) % {"days": -self.late}
        return {0: _("today"), -1: _("tomorrow")}.get(self.late, ahead)


def list_page(request: HttpRequest, changelist: Any) -> dict[str, Any]:
    stores = staff_on(request).stores_with(ORDER_GRANTS)
    columns, rows = chosen_columns(request), _list_rows(changelist.result_list)
    return {
        "rows": rows,
        "choices": _list_choices(changelist),
        "columns": columns,
        "column_choices": [(key, name, key in columns) for key, name in COLUMN_NAMES.items()],
        **_list_tabs(request, stores),
        **_list_views(request, stores),
        "chips": _list_chips(request, changelist),
        "sorts": [(key, name) for key, name in SORTS.items() if _may_sort(request, key)],
        "sort": sort_of(request),
        "kept": _other_parameters(request, (SORT, COLUMNS, VIEW, "p")),
        "kept_for_sort": _other_parameters(request, (SORT, "p")),
        "kept_for_columns": _other_parameters(request, (COLUMNS, "p")),
        "kept_for_search": _other_parameters(request, ("q", "p", VIEW)),
        "due_choices": [(key, name) for key, (name, _apply) in DUE.items()],
        "status_choices": [(str(int(status)), status.shown) for status in OrderStatus],
        "filters": {name: request.GET.get(name, "") for name in FILTER_NAMES},
    }


def chosen_columns(request: HttpRequest) -> list[str]:
    requested_keys = [key for text in request.GET.getlist(COLUMNS) for key in text.split(",")]
    columns = [key for key in COLUMN_NAMES if key in requested_keys]
    if columns:
        return columns
    stores = staff_on(request).stores_with(ORDER_GRANTS)
    is_one = stores is not None and len(stores) == 1
    return [key for key in USUAL if not (is_one and key == "store")]


def _list_rows(orders: Iterable[Order]) -> list[Row]:
    listed, now = list(orders), timezone.now()
    firsts = first_items_of([order.pk for order in listed])
    return [
        Row(
            order,
            OrderStatus(order.status).shown,
            firsts.get(order.pk),
            days_late(order, now),
            order.status in OPEN_STATUSES,
            order.cancellation == CancellationState.REQUESTED,
        )
        for order in listed
    ]


def _list_tabs(request: HttpRequest, stores: Sequence[int] | None) -> dict[str, Any]:
    """The tabs with their counts, from tallies; only late orders are counted in the table.

    Other statuses are among the filters, and have a tab while they are chosen.
    """
    counted = _counted_stores(request, stores)
    tallies = orders_by_status(counted)
    live = Order.objects.filter(is_test=False)
    late = late_orders(live if counted is None else live.filter(store__in=counted))
    late_count = late.order_by()[: MAX_COUNTED + 1].count()
    tabs: list[dict[str, Any]] = [
        {"query": "", "name": _("All"), "count": sum(tallies.values())},
        {
            "query": "due=open",
            "name": _("To do"),
            "count": sum(tallies.get(code, 0) for code in OPEN_STATUSES),
        },
        {"query": "due=late", "name": _("Late"), "count": late_count, "is_alarm": late_count > 0},
    ]
    tabs += [
        {
            "query": f"status__exact={int(status)}",
            "name": status.shown,
            "count": tallies[status],
            "code": int(status),
        }
        for status in OrderStatus
        if status in tallies and (status in TABS or str(int(status)) == request.GET.get("status__exact"))
    ]
    _link_tabs(request, tabs, late_count)
    return {"tabs": tabs}


def _link_tabs(request: HttpRequest, tabs: list[dict[str, Any]], late_count: int) -> None:
    """Each leads to its orders of the chosen store; one is where the reader is."""
    store = request.GET.get("store", "")
    query = "&".join(
        f"{name}={request.GET[name]}" for name in ("due", "status__exact") if request.GET.get(name)
    )
    for tab in tabs:
        tab["is_current"] = tab["query"] == query
        tab["most"] = tab["query"] == "due=late" and late_count > MAX_COUNTED
        tab["query"] = "&".join(
            part for part in (tab["query"], urlencode({"store": store}) if store else "") if part
        )


def _list_choices(changelist: Any) -> list[ChoiceFilter]:
    return [spec for spec in changelist.filter_specs if isinstance(spec, ChoiceFilter)]


def _counted_stores(request: HttpRequest, stores: Sequence[int] | None) -> Sequence[int] | None:
    """The stores to count: the one the list is filtered by, or all visible ones."""
    if not (store_id := request.GET.get("store")):
        return stores
    keys = list(Store.objects.filter(external_id=store_id).values_list("pk", flat=True))
    return [pk for pk in keys if stores is None or pk in stores]


def _list_views(request: HttpRequest, stores: Sequence[int] | None) -> dict[str, Any]:
    """The saved views; staff of several stores see the shared views of the store they filter by."""
    views = [
        {
            "view": view,
            "query": urlencode([(VIEW, view.pk)]) + (f"&{view.query}" if view.query else ""),
            "is_current": request.GET.get(VIEW) == str(view.pk),
            "is_own": view.owner_id == request.user.pk,
        }
        for view in order_views_for(request.user, stores)
    ]
    may_share = stores is None or len(stores) == 1 or bool(request.GET.get("store"))
    current = next((entry for entry in views if entry["is_current"]), None)
    return {"views": views, "current_view": current, "may_share": may_share}


def _list_chips(request: HttpRequest, changelist: Any) -> list[dict[str, str]]:
    """The label of each active filter, and the URL of the list without it."""
    chips, choices = (
        [],
        {choice.parameter_name: dict(choice.lookup_choices) for choice in _list_choices(changelist)},
    )
    for name in FILTER_NAMES:
        if value := request.GET.get(name):
            without = changelist.get_query_string(remove=[name, "p", VIEW])
            words = _describe_filter(name, choices.get(name, {}).get(value, value))
            chips.append({"words": words, "without": without or "?"})
    return chips


def _describe_filter(name: str, value: str) -> str:
    if name == "due":
        return DUE[value][0] if value in DUE else _("Due: %(value)s") % {"value": value}
    if name == "status__exact":
        names = {str(int(status)): status.shown for status in OrderStatus}
        return _("Status: %(value)s") % {"value": names.get(value, value)}
    if name in {"created_from", "created_to"}:
        placed = _("Placed from %(day)s") if name.endswith("from") else _("Placed to %(day)s")
        return placed % {"day": _format_day(value)}
    labels = {
        "delivery": _("Delivery"),
        "product": _("Product"),
        "batch": _("Batch"),
        "store": _("Store"),
        "cancellation__exact": _("Cancellation"),
        "q": _("Search"),
    }
    return f"{labels[name]}: {value}"


def _format_day(value: str) -> str:
    try:
        day = parse_date(value)
    except ValueError:
        day = None
    return date_format(day, "DATE_FORMAT") if day else value


def _may_sort(request: HttpRequest, key: str) -> bool:
    return not key.startswith("due") or lists_work_alone(request)


def _other_parameters(request: HttpRequest, without: Sequence[str]) -> list[tuple[str, str]]:
    """The other query parameters, as hidden inputs of a form that changes some of them."""
    return [
        (name, value)
        for name, values in request.GET.lists()
        for value in values
        if name not in without and value
    ]
