"""Filters of the order list."""

from collections.abc import Callable, Iterator
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import TextFilter

from accounts.admin.staff import staff_on
from fulfillment.core.admin.lists import ConsoleList
from stores.catalog.admin.scoping import ORDER_GRANTS, StoreFilter
from stores.orders.models import Order, OrderStatus
from stores.orders.models.status import OPEN_STATUSES
from stores.orders.selectors.board import late_orders, open_orders, orders_due_soon, orders_due_today

DUE: dict[str, tuple[str, Callable[[QuerySet[Order]], QuerySet[Order]]]] = {
    "open": ("To do", open_orders),
    "late": ("Late", late_orders),
    "today": ("Due today", orders_due_today),
    "soon": ("Due within 3 days", orders_due_soon),
}


class StatusFilter(admin.ChoicesFieldListFilter):
    def choices(self, changelist: Any) -> Iterator[Any]:
        words = {str(status.label): status.words for status in OrderStatus}
        for choice in super().choices(changelist):
            yield {**choice, "display": words.get(str(choice["display"]), choice["display"])}


class DueFilter(admin.SimpleListFilter):
    """Open orders, by the day they are due."""

    title = "due"
    parameter_name = "due"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(key, name) for key, (name, _) in DUE.items()]

    def queryset(self, request: HttpRequest, orders: QuerySet[Order]) -> QuerySet[Order]:
        chosen = DUE.get(self.value() or "")
        return chosen[1](orders) if chosen else orders


class DeliveryFilter(TextFilter):
    """By the typed code of the delivery method, as in the catalog."""

    title = "delivery method"
    parameter_name = "delivery"

    def queryset(self, request: HttpRequest, orders: QuerySet[Order]) -> QuerySet[Order] | None:
        return orders.filter(delivery_method_code=self.value()) if self.value() else None

    def has_output(self) -> bool:
        return True

    def lookups(self, request: HttpRequest, model_admin: Any) -> tuple[()]:
        return ()


# Query parameters of the list that are not filters.
SORT, COLUMNS, VIEW = "sort", "columns", "view"
SORTS = {
    "newest": "Newest first",
    "oldest": "Oldest first",
    "due": "Due first",
    "due-last": "Due last",
}


class OrderList(ConsoleList):
    """Always sorted along an index; within one store by `created`."""

    def get_filters_params(self, params: dict[str, Any] | None = None) -> dict[str, Any]:
        parameters = super().get_filters_params(params)
        return {name: value for name, value in parameters.items() if name not in {SORT, COLUMNS, VIEW}}

    def get_ordering(self, request: HttpRequest, queryset: QuerySet) -> list[Any]:
        chosen = sort_of(request)
        if chosen.startswith("due"):
            sign = "-" if chosen == "due-last" else ""
            return [f"{sign}latest_delivery", f"{sign}number"]
        newest = newest_first(request)
        return [column.removeprefix("-") for column in newest] if chosen == "oldest" else newest


def newest_first(request: HttpRequest) -> list[str]:
    return ["-created", "-id"] if _is_of_one_store(request) else ["-number"]


def sort_of(request: HttpRequest) -> str:
    """The sort of the list; by due date only for open orders, because the index holds only these."""
    chosen = request.GET.get(SORT, "")
    if lists_work_alone(request):
        return chosen if chosen in SORTS else "due" if "due" in request.GET else "newest"
    return chosen if chosen in {"newest", "oldest"} else "newest"


def lists_work_alone(request: HttpRequest) -> bool:
    status = request.GET.get("status__exact", "")
    return request.GET.get("due") in DUE or status in {str(code) for code in OPEN_STATUSES}


def _is_of_one_store(request: HttpRequest) -> bool:
    stores = staff_on(request).stores_with(ORDER_GRANTS)
    return bool(request.GET.get(StoreFilter.parameter_name)) or (stores is not None and len(stores) == 1)
