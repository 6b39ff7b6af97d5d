from collections.abc import Sequence
from functools import reduce
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.permissions import Grant
from accounts.selectors.staff import Staff, staff_of
from fulfillment.console_admin import ConsoleAdmin


class StaffAdmin(ConsoleAdmin):
    """Records of stores: staff see those of their stores, and change what their grants there allow.

    `store_path` leads from a record to its store ("pk" for the store itself).
    """

    store_path = "store"
    view_grants: Sequence[str] = (Grant.STORE_ALL_READ, Grant.ORDER_ALL_READ, Grant.ORDER_ALL_WRITE)
    change_grants: Sequence[str] = ()

    def opens_to(self, request: HttpRequest, action: str, record: Any = None) -> bool:
        grants = {"view": self.view_grants, "change": self.change_grants}.get(action, ())
        store_id = None if record is None else self._store_id(record)
        return staff_on(request).holds(grants, store_id)

    def visible_to(self, request: HttpRequest, records: QuerySet) -> QuerySet:
        return staff_on(request).visible(records, self.store_path, self.view_grants)

    def _store_id(self, record: Any) -> int:
        *steps, last = self.store_path.split("__")
        holder = reduce(getattr, steps, record)
        return int(holder.pk if last == "pk" else getattr(holder, f"{last}_id"))


def staff_on(request: HttpRequest) -> Staff:
    """Who asks, looked up once for a request."""
    if not hasattr(request, "console_staff"):
        request.console_staff = staff_of(request.user)  # type: ignore[attr-defined]
    staff: Staff = request.console_staff  # type: ignore[attr-defined]
    return staff
