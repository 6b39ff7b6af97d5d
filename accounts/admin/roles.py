from django.contrib import admin
from unfold.admin import ModelAdmin

from accounts.models import Role


@admin.register(Role)
class RoleAdmin(ModelAdmin):
    list_display = ["grant", "user", "application", "store", "created"]
    list_filter = ["grant"]
    list_select_related = ["user", "application", "store"]
    search_fields = ["user__username", "application__name", "application__client_id", "store__external_id"]
    autocomplete_fields = ["user", "application", "store"]
