from collections.abc import Sequence
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import TextFilter

from accounts.permissions import Grant

ORDER_GRANTS: Sequence[str] = (Grant.ORDER_ALL_READ, Grant.ORDER_ALL_WRITE)


class StoreFilter(TextFilter):
    """By StoreID, written out: a list of all stores to choose from would be read with every page."""

    title = "store ID"
    parameter_name = "store"

    def queryset(self, request: HttpRequest, records: QuerySet) -> QuerySet | None:
        store_id = self.value()
        return records.filter(Q(store__external_id=store_id)) if store_id else None

    def has_output(self) -> bool:
        return True

    def lookups(self, request: HttpRequest, model_admin: Any) -> tuple[()]:
        return ()
