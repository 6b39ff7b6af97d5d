from django.contrib import admin

from accounts.models import Tenant
from fulfillment.console_admin import ConsoleAdmin


@admin.register(Tenant)
class TenantAdmin(ConsoleAdmin):
    list_display = ["domain", "name", "created"]
    search_fields = ["domain", "name"]
    search_help_text = "Domain or name"
