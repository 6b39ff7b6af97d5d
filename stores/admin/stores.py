from django.contrib import admin
from unfold.admin import ModelAdmin

from stores.models import Store


@admin.register(Store)
class StoreAdmin(ModelAdmin):
    list_display = ["company_name", "external_id", "currency", "is_demo", "product_count", "updated"]
    search_fields = ["external_id", "company_name"]
