from django.contrib import admin
from unfold.admin import ModelAdmin

from accounts.models import Tenant


@admin.register(Tenant)
class TenantAdmin(ModelAdmin):
    list_display = ["domain", "name", "created"]
    search_fields = ["domain", "name"]
