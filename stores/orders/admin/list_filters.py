"""Filters of the order list."""

from collections.abc import Callable, Iterator
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import TextFilter

from stores.orders.models import Order, OrderStatus
from stores.orders.selectors.due import late_orders, open_orders, orders_due_soon, orders_due_today

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
