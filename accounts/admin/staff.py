"""The base class of admins for records of stores, which the staff of a store sees."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.permissions import Permission
from accounts.selectors.staff import Staff, get_staff
from fulfillment.core.admin.base import ConsoleAdmin
from fulfillment.core.caches import once_per_request

NAMED = {"application": "application_name", "user": "user_name"}


class StaffAdmin(ConsoleAdmin):
    """Records of stores: staff see the records of their stores, and change what their grants allow.

    `store_path` leads from a record to its store ("pk" for the store itself).
    """

    store_path = "store"
    view_grants: Sequence[str] = (
        Permission.STORE_ALL_READ,
        Permission.ORDER_ALL_READ,
        Permission.ORDER_ALL_WRITE,
    )
    change_grants: Sequence[str] = ()

    def has_access(self, request: HttpRequest, action: str, record: Any = None) -> bool:
        grants = {"view": self.view_grants, "change": self.change_grants}.get(action, ())
        store_id = None if record is None else self._store_id(record)
        return staff_on(request).holds(grants, store_id)

    def scope_queryset(self, request: HttpRequest, records: QuerySet) -> QuerySet:
        return staff_on(request).visible(records, self.store_path, self.view_grants)

    def get_fieldsets(self, request: HttpRequest, record: Any = None) -> Any:
        fieldsets = super().get_fieldsets(request, record)
        if staff_on(request).is_operator:
            return fieldsets
        return [
            (title, {**options, "fields": self._unlinked_fields(options["fields"])})
            for title, options in fieldsets
        ]

    def get_readonly_fields(self, request: HttpRequest, record: Any = None) -> Any:
        fields = super().get_readonly_fields(request, record)
        return fields if staff_on(request).is_operator else self._unlinked_fields(fields)

    def _unlinked_fields(self, fields: Sequence[Any]) -> list[Any]:
        """Shows the names of users and applications without links to pages that staff cannot open."""
        return [NAMED.get(field, field) if isinstance(field, str) else field for field in fields]

    @admin.display(description="application")
    def application_name(self, record: Any) -> str:
        return str(record.application or "—")

    @admin.display(description="user")
    def user_name(self, record: Any) -> str:
        return str(record.user or "—")

    def _store_id(self, record: Any) -> int:
        *steps, last = self.store_path.split("__")
        holder = reduce(getattr, steps, record)
        return int(holder.pk if last == "pk" else getattr(holder, f"{last}_id"))


def staff_on(request: HttpRequest) -> Staff:
    """The staff member of the request, looked up once."""
    return once_per_request(request, "console_staff", lambda: get_staff(request.user))
