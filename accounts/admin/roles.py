from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from accounts.admin.role_forms import RoleForm, RolePlaces
from accounts.admin.staff import StaffAdmin
from accounts.models import Role
from accounts.permissions import Grant
from fulfillment.core.admin.read_only import register_history


@admin.register(Role)
class RoleAdmin(RolePlaces, StaffAdmin):
    """Store staff read the roles of their stores; operators grant them."""

    dangerous_pages = {"add": "Give a role", "change": "Change a role", "delete": "Take a role away"}
    view_grants: Sequence[str] = (Grant.STORE_ALL_READ,)
    form = RoleForm
    list_display = ["grant", "user", "application", "store", "created"]
    list_filter = ["grant"]
    list_select_related = ["user", "application", "store"]
    search_fields = ["user__username", "application__name", "application__client_id", "store__external_id"]
    search_help_text = "User, application or store"
    autocomplete_fields = ["user", "application", "store"]
    ordering = ["-pk"]

    def _store_id(self, record: Any) -> int:
        # Only operators see grants over everything, which belong to no store.
        return record.store_id or 0

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)


register_history(
    Role,
    "grant",
    "user_id",
    "application_id",
    "store_id",
    search=["=user__username", "=application__client_id", "=store__external_id"],
    search_help="Exact user name, client ID or StoreID",
)
