"""Filters of the order list."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from accounts.admin.staff import staff_on
from accounts.permissions import ORDER_GRANTS
from fulfillment.core.admin.lists import ConsoleList
from fulfillment.core.text import method_name, parse_uuid
from stores.catalog.admin.scoping import ChoiceFilter, StoreFilter, stores_on
from stores.catalog.models import Store
from stores.catalog.selectors.stores import (
    MAX_CHOICES,
    Choices,
    delivery_choices,
    product_choices,
)
from stores.orders.models import Order, OrderStatus
from stores.orders.models.status import OPEN_STATUSES
from stores.orders.selectors.board import late_orders, open_orders, orders_due_soon, orders_due_today

DUE: dict[str, tuple[Any, Callable[[QuerySet[Order]], QuerySet[Order]]]] = {
    "open": (gettext_lazy("To do"), open_orders),
    "late": (gettext_lazy("Late"), late_orders),
    "today": (gettext_lazy("Due today"), orders_due_today),
    "soon": (gettext_lazy("Due within 3 days"), orders_due_soon),
}
# Query parameters of the list that are not filters.
SORT, COLUMNS, VIEW = "sort", "columns", "view"
SORTS = {
    "newest": gettext_lazy("Newest first"),
    "oldest": gettext_lazy("Oldest first"),
    "due": gettext_lazy("Due first"),
    "due-last": gettext_lazy("Due last"),
}


class StatusFilter(admin.ChoicesFieldListFilter):
    def choices(self, changelist: Any) -> Iterator[Any]:
        words = {str(status.label): status.shown for status in OrderStatus}
        for choice in super().choices(changelist):
            yield {**choice, "display": words.get(str(choice["display"]), choice["display"])}


class DueFilter(admin.SimpleListFilter):
    """Open orders, by the day they are due."""

    title = "due"
    parameter_name = "due"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(key, name) for key, (name, _) in DUE.items()]

    def queryset(self, request: HttpRequest, orders: QuerySet[Order]) -> QuerySet[Order]:
        days = DUE.get(self.value() or "")
        return days[1](orders) if days else orders


def chosen_stores(request: HttpRequest, grants: Sequence[str]) -> QuerySet[Store]:
    """The stores that the list is about: the chosen one, or all that the user sees."""
    stores = stores_on(request, grants)
    store_id = request.GET.get(StoreFilter.parameter_name)
    return stores.filter(external_id=store_id) if store_id else stores


class DeliveryFilter(ChoiceFilter):
    title = "delivery method"
    parameter_name = "delivery"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        choices = delivery_choices(chosen_stores(request, model_admin.view_grants))
        return _with_chosen(choices, self.value(), method_name)

    def queryset(self, request: HttpRequest, orders: QuerySet[Order]) -> QuerySet[Order] | None:
        return orders.filter(delivery_method_code=self.value()) if self.value() else None


class ProductFilter(ChoiceFilter):
    title = "product"
    parameter_name = "product"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        choices = product_choices(chosen_stores(request, model_admin.view_grants))
        return _with_chosen(choices, self.value(), str) if len(choices) <= MAX_CHOICES else []

    def queryset(self, request: HttpRequest, orders: QuerySet[Order]) -> QuerySet[Order] | None:
        return orders.filter(product_ids__contains=[self.value()]) if self.value() else None


class BatchFilter(ChoiceFilter):
    """Filters by the BatchID, to which the page of a batch links."""

    title = "batch"
    parameter_name = "batch"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Choices:
        return []

    def queryset(self, request: HttpRequest, orders: QuerySet[Order]) -> QuerySet[Order] | None:
        if not (text := self.value()):
            return None
        if (key := parse_uuid(text)) is None:
            return orders.none()
        # Not by a join: an order of the mode Items has several rows.
        of_batch = Order.objects.filter(batch_rows__batch=key)
        return orders.filter(pk__in=of_batch.order_by().values("pk"))


def _with_chosen(choices: Choices, value: str | None, name: Callable[[str], str]) -> Choices:
    """What is no longer in the catalog still has its orders."""
    is_known = not value or value in dict(choices)
    return choices if is_known else [*choices, (value or "", name(value or ""))]


class OrderList(ConsoleList):
    """Always sorted along an index; within one store by `created`."""

    def get_filters_params(self, params: dict[str, Any] | None = None) -> dict[str, Any]:
        parameters = super().get_filters_params(params)
        return {name: value for name, value in parameters.items() if name not in {SORT, COLUMNS, VIEW}}

    def get_ordering(self, request: HttpRequest, queryset: QuerySet) -> list[Any]:
        sort_key = sort_of(request)
        if sort_key.startswith("due"):
            sign = "-" if sort_key == "due-last" else ""
            return [f"{sign}latest_delivery", f"{sign}number"]
        columns = ["created", "id"] if _is_of_one_store(request) else ["number"]
        return [column if sort_key == "oldest" else f"-{column}" for column in columns]


def sort_of(request: HttpRequest) -> str:
    """The sort of the list; by due date only for open orders, because the index holds only these."""
    sort_key = request.GET.get(SORT, "")
    if lists_work_alone(request):
        return sort_key if sort_key in SORTS else "due" if "due" in request.GET else "newest"
    return sort_key if sort_key in {"newest", "oldest"} else "newest"


def lists_work_alone(request: HttpRequest) -> bool:
    status = request.GET.get("status__exact", "")
    return request.GET.get("due") in DUE or status in {str(code) for code in OPEN_STATUSES}


def _is_of_one_store(request: HttpRequest) -> bool:
    stores = staff_on(request).stores_with(ORDER_GRANTS)
    return bool(request.GET.get(StoreFilter.parameter_name)) or (stores is not None and len(stores) == 1)
