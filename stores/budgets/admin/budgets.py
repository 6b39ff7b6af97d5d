"""Budgets: how each stands, the forms to make and change them, and their statement."""

from datetime import date
from itertools import groupby
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe
from unfold.decorators import display

from accounts.admin.staff import StaffAdmin, staff_on
from accounts.callers import Caller
from accounts.permissions import Permission
from fulfillment.core.admin.base import ExtraPage
from fulfillment.core.admin.confirmation import confirmation_page
from fulfillment.core.admin.read_only import ServiceDeleteAdmin
from fulfillment.core.errors import DomainError
from fulfillment.core.page_messages import errors_as_messages
from fulfillment.core.recorded_texts import translated
from fulfillment.core.text import parse_uuid
from stores.budgets.admin.forms import AdjustmentForm, BudgetForm
from stores.budgets.admin.statements import StatementPages, places_of, standing_of, statement_lines
from stores.budgets.models import Budget, BudgetEntry
from stores.budgets.representations import gauge_of
from stores.budgets.selectors.budgets import scope_names
from stores.budgets.selectors.standings import standings_of
from stores.budgets.services.budgets import adjust_budget, change_budget, remove_budget
from stores.catalog.admin.scoping import StoreFilter
from stores.catalog.models import Store

ENTRIES_SHOWN = 10
FIXED = ["type", "duration", "start_date"]
STATES = {"Active": "success", "Not begun": "info", "Ended": "default", "Disabled": "default"}


class DiffersFilter(admin.SimpleListFilter):
    title = "balance"
    parameter_name = "differs"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("yes", _("Not the sum of the entries"))]

    def queryset(self, request: HttpRequest, records: QuerySet) -> QuerySet:
        return records.filter(periods__differs=True).distinct() if self.value() == "yes" else records


@admin.register(Budget)
class BudgetAdmin(StatementPages, ServiceDeleteAdmin, StaffAdmin):
    """Staff see the budgets of their stores; who holds Budget.All.Write changes them, by the services of the API."""

    form = BudgetForm
    harmless_pages = ("add", "change", "delete", "adjust", "end")
    view_grants = (Permission.STORE_ALL_READ, Permission.BUDGET_ALL_WRITE)
    change_grants = (Permission.BUDGET_ALL_WRITE,)
    list_display = ["name", "store", "scope", "gauge", "period_ends", "over_budget", "state"]
    list_filter = [StoreFilter, DiffersFilter, "is_enabled", "type"]
    list_filter_submit = True
    list_select_related = ["store"]
    search_fields = ["name", "store__external_id"]
    search_help_text = "Name or StoreID"
    empty_help = "Add one for a store with budgets turned on."
    change_form_outer_before_template = "admin/stores/budget_before.html"
    change_form_outer_after_template = "admin/stores/budget_after.html"
    readonly_fields = ["scope"]

    def has_access(self, request: HttpRequest, action: str, record: Any = None) -> bool:
        """Who may change a budget may also add and delete one."""
        return super().has_access(request, "view" if action == "view" else "change", record)

    def has_delete_permission(self, request: HttpRequest, budget: Any = None) -> bool:
        """One by one; a budget with entries is ended."""
        is_allowed = super().has_delete_permission(request, budget)
        return is_allowed and budget is not None and not _has_entries(budget)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Budget]:
        budgets = super().get_queryset(request).select_related("store")
        return budgets.defer("store__rendering", "store__verbose_rendering")

    def get_fieldsets(self, request: HttpRequest, budget: Budget | None = None) -> Any:
        is_fixed = budget is not None and (
            _is_fixed(request, budget) or not self._may_change(request, budget)
        )
        scope = ["scope"] if is_fixed else ["scope_kind", "scope_name"]
        return [
            (None, {"fields": ["store", "name", *scope, "is_enabled"]}),
            ("Limit", {"fields": ["type", "limit", "over_budget", "warn_at", "carry_over"]}),
            ("Periods", {"fields": ["duration", "start_date", "end_date"]}),
        ]

    def get_readonly_fields(self, request: HttpRequest, budget: Budget | None = None) -> list[str]:
        if budget is None:
            return []
        return ["scope", "store", *(FIXED if _is_fixed(request, budget) else [])]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        form = super().get_form(request, obj, change, **options)
        form.viewer = request.user
        return form

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """The store that a link names by its StoreID, or the only one there is to choose."""
        stores = self._stores(request)
        if store_id := request.GET.get("store", "")[:64]:
            stores = stores.filter(external_id=store_id)
        choices = list(stores.only("pk")[:2])
        return {"store": choices[0].pk} if len(choices) == 1 else {}

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        if db_field.name == "store":
            options["queryset"] = self._stores(request)
        return super().formfield_for_foreignkey(db_field, request, **options)

    def _stores(self, request: HttpRequest) -> QuerySet[Store]:
        """The stores for which the user may create budgets."""
        return staff_on(request).visible(Store.objects.filter(budget_enabled=True), "pk", self.change_grants)

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """All budgets of a page stand with one query for each store."""
        changelist = super().get_changelist_instance(request)
        budgets: list[Any] = list(changelist.result_list)
        changelist.result_list, names = budgets, scope_names(budgets)
        by_store = attrgetter("store_id")
        for _store, of_store in groupby(sorted(budgets, key=by_store), key=by_store):
            listed = list(of_store)
            for standing in standings_of(listed, store=listed[0].store, moment=timezone.now()):
                budget: Any = standing.budget
                budget.standing, budget.scope_names = standing, names
        return changelist

    @admin.display(description="for")
    def scope(self, budget: Any) -> str:
        kind: str = budget.get_scope_kind_display()
        if budget.scope_key is None:
            return kind
        names = getattr(budget, "scope_names", None) or scope_names([budget])
        return f"{kind}: {names.get(budget.scope_key, ('', 'removed'))[1]}"

    @admin.display(description="used")
    def gauge(self, budget: Budget) -> str:
        return render_to_string("admin/stores/budget_gauge.html", gauge_of(standing_of(budget)))

    @admin.display(description="period ends")
    def period_ends(self, budget: Budget) -> date:
        return standing_of(budget).last_day

    @display(description="state", label=STATES)
    def state(self, budget: Budget) -> str:
        today = budget.store.local_date(timezone.now())
        if not (budget.is_enabled and budget.store.budget_enabled):
            return "Disabled"
        if today < budget.start_date:
            return "Not begun"
        return "Ended" if budget.end_date and budget.end_date < today else "Active"

    def record_context(self, request: HttpRequest, budget: Budget) -> dict[str, Any]:
        newest = BudgetEntry.objects.filter(budget=budget).select_related("period").order_by("-id")
        return {
            **gauge_of(standing_of(budget)),
            "state": self.state(budget),
            "lines": statement_lines(budget, newest[:ENTRIES_SHOWN]),
            "adjustment": AdjustmentForm(),
            "places": places_of(budget),
            "may_change": self._may_change(request, budget),
            "sees_orders": self.sees_orders(request, budget),
        }

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Another change may come between the check of the form and its save."""
        try:
            response: HttpResponse = super().changeform_view(request, *args, **kwargs)
        except DomainError as error:
            messages.error(request, translated(error.message))
            return HttpResponseRedirect(request.get_full_path())
        return response

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        return self._question(request, object_id) or super().change_view(request, object_id, *args, **kwargs)

    def save_model(self, request: HttpRequest, budget: Budget, form: Any, change: bool) -> None:
        saved = form.save_by_service().budget
        budget.pk = saved.pk
        budget.refresh_from_db()

    def remove(self, record: Budget) -> None:
        remove_budget(budget=record)

    def extra_pages(self) -> list[ExtraPage]:
        return [
            ("<uuid:budget_id>/adjust/", require_POST(self.adjust_view), "adjust"),
            ("<uuid:budget_id>/end/", require_POST(self.end_view), "end"),
            ("<uuid:budget_id>/statement/", require_safe(self.statement_view), "statement"),
            ("<uuid:budget_id>/statement.csv", require_safe(self.statement_csv), "statement_csv"),
        ]

    def adjust_view(self, request: HttpRequest, budget_id: UUID) -> HttpResponse:
        budget, form = self.record_for(request, budget_id), AdjustmentForm(request.POST)
        if form.is_valid():
            values = form.cleaned_data
            with errors_as_messages(request):
                entry = adjust_budget(
                    budget=budget,
                    amount=values["amount"],
                    note=values["note"],
                    caller=Caller.on_pages(request.user),
                    key=values["key"],
                )
                added = standing_of(budget).text(entry.amount)
                message = _("Added %(amount)s.") if entry.amount > 0 else _("Corrected by %(amount)s.")
                messages.success(request, message % {"amount": added})
        else:
            errors = (
                f"{form.fields[name].label or name.title()}: {field_errors[0]}"
                for name, field_errors in form.errors.items()
            )
            messages.error(request, _("Nothing was added. %(errors)s") % {"errors": " ".join(errors)})
        return HttpResponseRedirect(self.address_of(budget))

    def end_view(self, request: HttpRequest, budget_id: UUID) -> HttpResponse:
        budget = self.record_for(request, budget_id)
        today = budget.store.local_date(timezone.now())
        facts = [
            _("Today, %(today)s, is its last day: from tomorrow it limits no order.")
            % {"today": date_format(today)},
            _("Its entries stay."),
        ]
        page = confirmation_page(
            self,
            request,
            question=_("End the budget %(budget)s?") % {"budget": budget},
            button=_("End it"),
            records=facts,
            back=self.address_of(budget),
        )
        if page is None:
            with errors_as_messages(request):
                change_budget(budget=budget, values={"EndDate": today})
                messages.success(request, _("The budget %(budget)s ends today.") % {"budget": budget})
        return page or HttpResponseRedirect(self.address_of(budget))

    def _question(self, request: HttpRequest, object_id: str) -> HttpResponse | None:
        """The page to confirm what a change does to orders, if it does anything."""
        key = parse_uuid(object_id)
        if request.method != "POST" or key is None or "confirmed" in request.POST:
            return None
        budget = self.get_queryset(request).filter(pk=key).first()
        if budget is None or not self._may_change(request, budget):
            return None
        standing = standing_of(self.get_queryset(request).get(pk=key))
        form = self.get_form(request, budget, change=True)(request.POST, instance=budget)
        if not form.is_valid() or not (facts := form.consequences(standing)):
            return None
        return confirmation_page(
            self,
            request,
            question=_("Change the budget %(budget)s?") % {"budget": standing.budget},
            button=_("Save"),
            records=facts,
        )

    def _may_change(self, request: HttpRequest, budget: Budget) -> bool:
        return self.has_access(request, "change", budget)


def _is_fixed(request: HttpRequest, budget: Budget) -> bool:
    """A form that was opened before the first entry still sends what is fixed now: the service refuses its changes."""
    return _has_entries(budget) and "scope_kind" not in request.POST


def _has_entries(budget: Any) -> bool:
    if not hasattr(budget, "has_entries"):
        budget.has_entries = BudgetEntry.objects.filter(budget=budget).exists()
    return bool(budget.has_entries)
