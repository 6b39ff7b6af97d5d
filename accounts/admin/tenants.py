from django.contrib import admin
from django.http import HttpRequest

from accounts.models import Tenant
from fulfillment.console_admin import ConsoleAdmin


@admin.register(Tenant)
class TenantAdmin(ConsoleAdmin):
    list_display = ["domain", "name", "created"]
    search_fields = ["domain", "name"]
    search_help_text = "Domain or name"

    def has_delete_permission(self, request: HttpRequest, tenant: Tenant | None = None) -> bool:
        """Only while it has no users: they could not be left without one, and asking would list them all."""
        allowed = super().has_delete_permission(request, tenant)
        return allowed and tenant is not None and not tenant.users.exists()
