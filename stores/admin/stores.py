from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from accounts.admin.staff import StaffAdmin
from stores.admin.forms import JudgedByService
from stores.catalog_records import STORE
from stores.models import BudgetDuration, BudgetType, Store
from stores.services.stores import find_store_faults, save_store

COLUMNS = {member.name: member.column for member in STORE}


class StoreForm(JudgedByService):
    budget_types = forms.MultipleChoiceField(
        choices=BudgetType.choices, required=False, widget=UnfoldAdminCheckboxSelectMultipleWidget
    )
    budget_durations = forms.MultipleChoiceField(
        choices=BudgetDuration.choices, required=False, widget=UnfoldAdminCheckboxSelectMultipleWidget
    )

    class Meta:
        model = Store
        fields = list(COLUMNS.values())

    def clean(self) -> dict[str, Any] | None:
        """The service's own rules, shown at the fields they are about."""
        if not self.errors:
            known = self.instance if self.instance.pk else None
            for fault in find_store_faults(values=self.values(), store=known):
                column = COLUMNS.get(fault.pointer.split("/")[1])
                self.add_error(column if column in self.fields else None, fault.message)
        return self.cleaned_data

    def values(self) -> dict[str, Any]:
        return {
            name: self.cleaned_data.get(column, getattr(self.instance, column))
            for name, column in COLUMNS.items()
        }


@admin.register(Store)
class StoreAdmin(StaffAdmin):
    """Staff see their stores; operators change them."""

    store_path = "pk"
    form = StoreForm
    list_display = [
        "company_name",
        "external_id",
        "currency",
        "is_demo",
        "budget_enabled",
        "product_count",
        "updated",
    ]
    list_filter = ["is_demo", "budget_enabled"]
    search_fields = ["external_id", "company_name"]
    search_help_text = "StoreID or company"
    change_form_outer_before_template = "admin/stores/store_before.html"
    fieldsets = [
        (
            None,
            {"fields": ["external_id", "company_name", "description", "currency", "time_zone", "is_demo"]},
        ),
        ("Budgets", {"fields": ["budget_enabled", "budget_types", "budget_durations"]}),
        ("Orders", {"fields": ["hold_window_minutes"]}),
        ("Record", {"fields": ["product_count", "catalog_version", "created", "updated"]}),
    ]
    readonly_fields = ["product_count", "catalog_version", "created", "updated"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Store]:
        return super().get_queryset(request).defer("rendering", "verbose_rendering")

    def get_readonly_fields(self, request: HttpRequest, store: Store | None = None) -> list[str]:
        return [*self.readonly_fields, "external_id"] if store else self.readonly_fields

    def has_delete_permission(self, request: HttpRequest, store: Store | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, store: Store, form: StoreForm, change: bool) -> None:
        saved = save_store(values=form.values(), store=store if change else None).store
        store.pk = saved.pk
        store.refresh_from_db()
