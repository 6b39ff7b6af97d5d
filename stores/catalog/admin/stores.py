"""The admin of stores."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet, TextChoices
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminFileFieldWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from accounts.admin.staff import StaffAdmin
from fulfillment.core.admin.base import ExtraPage
from fulfillment.core.recorded_texts import translated
from stores.catalog.admin.scoping import ValidatedByService
from stores.catalog.admin.uploads import catalog_response
from stores.catalog.models import BudgetDuration, BudgetType, Store, StoreProfile
from stores.catalog.records.field_specs import STORED_STORE_FIELDS
from stores.catalog.services.stores import COLUMNS as PROFILE_COLUMNS
from stores.catalog.services.stores import (
    LOGO_BYTES,
    find_profile_faults,
    find_store_faults,
    save_profile,
    save_store,
)

COLUMNS = {spec.name: spec.column for spec in STORED_STORE_FIELDS}
LOGO_HELP = "PNG or JPEG, at most 1 MB; shown 64 pixels wide."


class StoreForm(ValidatedByService):
    versioned_parts = ("profile",)
    budget_types = forms.MultipleChoiceField(
        choices=BudgetType.choices, required=False, widget=UnfoldAdminCheckboxSelectMultipleWidget
    )
    budget_durations = forms.MultipleChoiceField(
        choices=BudgetDuration.choices, required=False, widget=UnfoldAdminCheckboxSelectMultipleWidget
    )

    is_listed = forms.BooleanField(
        label=_("Listed in the directory"),
        required=False,
        help_text=_("Developers find the store there and request access to it."),
        widget=UnfoldBooleanSwitchWidget,
    )
    country = forms.CharField(max_length=100, required=False, widget=UnfoldAdminTextInputWidget)
    website = forms.CharField(max_length=200, required=False, widget=UnfoldAdminTextInputWidget)
    logo = forms.FileField(required=False, help_text=LOGO_HELP, widget=UnfoldAdminFileFieldWidget)
    remove_logo = forms.BooleanField(required=False, widget=UnfoldBooleanSwitchWidget)

    class Meta:
        model = Store
        fields = list(COLUMNS.values())

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        profile = _profile_of(self.instance)
        for column in PROFILE_COLUMNS.values():
            self.fields[column].initial = getattr(profile, column)
        if profile.logo_sha256:
            stored = gettext("A logo is stored; another file replaces it.")
            self.fields["logo"].help_text = f"{stored} {gettext(LOGO_HELP)}"

    def clean(self) -> dict[str, Any] | None:
        """The service's own rules, shown at the fields they are about."""
        for fault in find_profile_faults(values=self.profile_values(), logo=self.new_logo()):
            self.add_error(PROFILE_COLUMNS.get(fault.pointer[1:], "logo"), translated(fault.message))
        if not self.errors:
            store = self.instance if self.instance.pk else None
            for fault in find_store_faults(values=self.values(), store=store):
                column = COLUMNS.get(fault.pointer.split("/")[1])
                self.add_error(column if column in self.fields else None, translated(fault.message))
        return self.cleaned_data

    def values(self) -> dict[str, Any]:
        return {
            name: self.cleaned_data.get(column, getattr(self.instance, column))
            for name, column in COLUMNS.items()
        }

    def profile_values(self) -> dict[str, Any]:
        return {name: self.cleaned_data.get(column, "") for name, column in PROFILE_COLUMNS.items()}

    def new_logo(self) -> bytes | None:
        file = self.cleaned_data.get("logo")
        if not file:
            return None
        file.seek(0)
        return bytes(file.read(LOGO_BYTES + 1))


def _profile_of(store: Store | None) -> StoreProfile:
    """The prefetched profile of a store, or an empty one."""
    return getattr(store, "profile", None) or StoreProfile()


@admin.register(Store)
class StoreAdmin(StaffAdmin):
    """Staff see their stores; operators change them."""

    harmless_pages = ("add", "change", "catalog", "catalog_of")
    forbidden = ("delete",)
    store_path = "pk"
    form = StoreForm
    list_display = [
        "company_name",
        "external_id",
        "currency",
        "is_demo",
        "has_budgets",
        "products",
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
        ("Directory", {"fields": ["is_listed", "country", "website", "logo", "remove_logo"]}),
        ("Budgets", {"fields": ["budget_enabled", "budget_types", "budget_durations"]}),
        ("Orders", {"fields": ["hold_window_minutes", "admits_test_applications"]}),
        ("Approvals", {"fields": ["approval_above", "approval_hours"]}),
        ("Record", {"fields": ["product_count", "catalog_version", "created", "updated"]}),
    ]
    readonly_fields = ["product_count", "catalog_version", "created", "updated"]
    help_texts = {
        "approval_above": "Orders with a higher total need approval by a user with Order.All.Approve. "
        "Empty: no order does.",
        "approval_hours": "The service rejects an order that has no decision after this many hours.",
        "hold_window_minutes": "A new order can be cancelled at once for this many minutes. Later, the store "
        "accepts or refuses the cancellation.",
    }

    @admin.display(description="budgets", boolean=True, ordering="budget_enabled")
    def has_budgets(self, store: Store) -> bool:
        return store.budget_enabled

    @admin.display(description="products", ordering="product_count")
    def products(self, store: Store) -> int:
        return store.product_count

    def get_queryset(self, request: HttpRequest) -> QuerySet[Store]:
        return (
            super()
            .get_queryset(request)
            .select_related("profile")
            .defer("rendering", "verbose_rendering", "profile__logo")
        )

    @property
    def readonly_preprocess_fields(self) -> dict[str, Callable[[str], str]]:
        words = {
            "budget_types": partial(_in_words, BudgetType),
            "budget_durations": partial(_in_words, BudgetDuration),
        }
        return {**super().readonly_preprocess_fields, **words}

    def disambiguated_label(self, store: Store) -> str:
        return f"{store.company_name} ({store.external_id})"

    # Shown to store staff as read-only; operators edit them in the form.
    @admin.display(description="listed in the directory", boolean=True)
    def is_listed(self, store: Store) -> bool:
        return _profile_of(store).is_listed

    def country(self, store: Store) -> str:
        return _profile_of(store).country

    def website(self, store: Store) -> str:
        return _profile_of(store).website

    def logo(self, store: Store) -> str:
        return gettext("Stored") if _profile_of(store).logo_sha256 else ""

    def remove_logo(self, store: Store) -> str:
        return ""

    def get_fieldsets(self, request: HttpRequest, store: Store | None = None) -> Any:
        """A logo is removed only where there is one."""
        has_logo = store is not None and _profile_of(store).logo_sha256
        left_out = set() if has_logo else {"remove_logo"}
        return [
            (title, {**options, "fields": [name for name in options["fields"] if name not in left_out]})
            for title, options in super().get_fieldsets(request, store)
        ]

    def get_readonly_fields(self, request: HttpRequest, store: Store | None = None) -> list[str]:
        return [*self.readonly_fields, "external_id"] if store else self.readonly_fields

    def extra_pages(self) -> list[ExtraPage]:
        return [
            ("catalog.json", self.catalog_view, "catalog"),
            ("<int:store_id>/catalog.json", self.catalog_view, "catalog_of"),
        ]

    def catalog_view(self, request: HttpRequest, store_id: int | None = None) -> HttpResponseBase:
        """The catalog file of one store, or of every store that may be seen."""
        visible = self.get_queryset(request)
        store = None if store_id is None else get_object_or_404(visible, pk=store_id)
        if not self.has_view_permission(request, store):
            raise PermissionDenied
        names = [store.external_id] if store else list(visible.values_list("external_id", flat=True))
        return catalog_response(request, names, f"{store.external_id if store else 'stores'}.json")

    def save_model(self, request: HttpRequest, store: Store, form: StoreForm, change: bool) -> None:
        saved = save_store(values=form.values(), store=store if change else None).store
        save_profile(
            store=saved,
            values=form.profile_values(),
            logo=form.new_logo(),
            remove_logo=form.cleaned_data.get("remove_logo", False),
        )
        store.pk = saved.pk
        store.refresh_from_db()


def _in_words(choices: type[TextChoices], listed: str) -> str:
    """The values of an array as the form names them."""
    names = {value: gettext(label) for value, label in choices.choices}
    return ", ".join(names.get(value, value) for value in listed.split(", "))
