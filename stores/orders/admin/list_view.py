from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.views import ChangeList

from accounts.admin.staff import staff_on
from stores.catalog.admin.scoping import ORDER_GRANTS, StoreFilter


class OrderList(ChangeList):
    """Sorted along an index in every case: within one store orders are counted by `position`."""

    def get_ordering(self, request: HttpRequest, queryset: QuerySet) -> list[Any]:
        ordering = super().get_ordering(request, queryset)
        if not _is_of_one_store(request):
            return ordering
        return [order.replace("number", "position") for order in ordering]


def _is_of_one_store(request: HttpRequest) -> bool:
    stores = staff_on(request).stores_with(ORDER_GRANTS)
    return bool(request.GET.get(StoreFilter.parameter_name)) or (stores is not None and len(stores) == 1)
