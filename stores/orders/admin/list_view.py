from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.admin.staff import staff_on
from fulfillment.core.admin.lists import ConsoleList
from stores.catalog.admin.scoping import ORDER_GRANTS, StoreFilter
from stores.orders.admin.list_filters import DUE
from stores.orders.models.status import OPEN_STATUSES

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
        columns = ["created", "id"] if _is_of_one_store(request) else ["number"]
        return [column if chosen == "oldest" else f"-{column}" for column in columns]


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
