from typing import Any

from django.contrib import admin, messages
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from accounts.models import Tenant
from fulfillment.core.admin.base import ConsoleAdmin
from fulfillment.core.admin.read_only import register_history


@admin.register(Tenant)
class TenantAdmin(ConsoleAdmin):
    harmless_pages = ("add", "change", "delete")
    list_display = ["domain", "name", "created"]
    search_fields = ["domain", "name"]
    search_help_text = "Domain or name"

    def has_delete_permission(self, request: HttpRequest, tenant: Tenant | None = None) -> bool:
        """Allowed only without users: each user needs a tenant, and the confirmation would list them all."""
        allowed = super().has_delete_permission(request, tenant)
        return allowed and tenant is not None and not tenant.users.exists()

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        try:
            return super().delete_view(request, object_id, extra_context)
        except IntegrityError:
            messages.error(request, "A user joined this tenant in the meantime, so it was not deleted.")
            return HttpResponseRedirect(reverse("admin:accounts_tenant_change", args=[object_id]))


register_history(Tenant, "domain", "name", search=["=domain", "name"], search_help="Exact domain, or name")
