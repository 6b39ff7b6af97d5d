"""Cost centers with their people, one by one and by a file."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_safe
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminTextInputWidget

from accounts.admin.staff import staff_on
from accounts.pages.guards import signed_in_user
from fulfillment.core.admin.base import ConsoleAdmin, ExtraPage
from fulfillment.core.admin.inlines import ConsoleInline, LabelledFormSet
from fulfillment.core.csv_rows import BOM, csv_pieces
from fulfillment.core.errors import DomainError
from stores.budgets.models import CostCenter, CostCenterMember
from stores.budgets.selectors.budgets import people_rows
from stores.budgets.services.people import COLUMNS as PEOPLE_COLUMNS
from stores.budgets.services.people import (
    MAX_LIST_BYTES,
    MAX_ROWS,
    decode_file,
    import_people,
    plan_people,
    read_people,
)
from stores.catalog.admin.scoping import StoreFilter
from stores.catalog.models import Store


class PeopleForm(forms.Form):
    """Takes the file or, after its preview, its text."""

    store = forms.CharField(label=gettext_lazy("StoreID"), max_length=64, widget=UnfoldAdminTextInputWidget)
    file = forms.FileField(
        label=gettext_lazy("CSV file"),
        required=False,
        widget=UnfoldAdminFileFieldWidget,
        help_text=format_lazy(
            gettext_lazy(
                "With the columns {people_columns}; at most {max_rows} rows. The changes are shown first."
            ),
            people_columns=", ".join(PEOPLE_COLUMNS),
            max_rows=number_format(MAX_ROWS, force_grouping=True),
        ),
    )
    text = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)

    def clean_store(self) -> Store:
        store = Store.objects.filter(external_id=self.cleaned_data["store"]).first()
        if store is None:
            raise ValidationError(_("No store has this StoreID."))
        return store

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        if file := cleaned.get("file"):
            try:
                cleaned["text"] = decode_file(file.read(MAX_LIST_BYTES + 1))
            except DomainError as error:
                self.add_error("file", error.message)
        elif not cleaned.get("text"):
            self.add_error("file", _("Choose a file."))
        return cleaned


class MemberFormSet(LabelledFormSet):
    def clean(self) -> None:
        """The store of the members is that of their cost center: Django does not see that it makes them unique."""
        super().clean()
        people = [
            user
            for form in self.forms
            if hasattr(form, "cleaned_data") and (user := form.cleaned_data.get("user")) is not None
        ]
        if len(set(people)) < len(people):
            raise ValidationError(_("A person is named twice. Remove one of them."))
        others = CostCenterMember.objects.filter(store=self.instance.store_id, user__in=people)
        if (
            member := others.exclude(cost_center=self.instance.pk)
            .select_related("cost_center", "user")
            .first()
        ):
            raise ValidationError(
                _("%(user)s belongs to %(cost_center)s already.")
                % {"user": member.user, "cost_center": member.cost_center}
            )


class MemberInline(ConsoleInline):
    model = CostCenterMember
    formset = MemberFormSet
    fields = ["user"]
    autocomplete_fields = ["user"]
    verbose_name, verbose_name_plural = "person", "people"

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return staff_on(request).is_operator

    has_change_permission = has_view_permission
    has_delete_permission = has_view_permission
    has_add_permission = has_view_permission


@admin.register(CostCenter)
class CostCenterAdmin(ConsoleAdmin):
    """A person belongs to one cost center of a store at most."""

    # Staff have none: the page is for operators alone.
    view_grants = ()
    forbidden = ("delete",)
    harmless_pages = ("add", "change", "import")
    change_form_outer_before_template = "admin/stores/cost_center_before.html"
    list_tools_template = "admin/stores/cost_centers_tools.html"
    list_display = ["code", "name", "store"]
    list_filter = [StoreFilter]
    list_filter_submit = True
    list_select_related = ["store"]
    search_fields = ["code", "name", "store__external_id"]
    search_help_text = "Code, name or StoreID"
    empty_help = "Add one with its people, to give them a shared budget."
    fields = ["store", "code", "name"]
    inlines = [MemberInline]

    def get_readonly_fields(self, request: HttpRequest, center: CostCenter | None = None) -> list[str]:
        return ["store", "code"] if center else []

    def get_queryset(self, request: HttpRequest) -> QuerySet[CostCenter]:
        return super().get_queryset(request).defer("store__rendering", "store__verbose_rendering")

    def extra_pages(self) -> list[ExtraPage]:
        return [
            ("import/", self.import_view, "import"),
            ("<int:store_id>/people.csv", require_safe(self.export_view), "export"),
        ]

    def import_view(self, request: HttpRequest) -> HttpResponse:
        """A file is read and shown first; the shown changes are then made, or shown anew where they differ by now."""
        if not self.has_access(request, "change"):
            raise PermissionDenied
        is_post = request.method == "POST"
        form = PeopleForm(
            request.POST if is_post else None,
            request.FILES if is_post else None,
            initial={"store": request.GET.get("store", "")[:64]},
        )
        shown: dict[str, Any] = {}
        if form.is_valid():
            try:
                shown = self._plan_or_import(request, form)
            except DomainError as error:
                shown = {"faults": error.messages}
        if shown.get("is_done"):
            return HttpResponseRedirect(reverse("admin:stores_costcenter_changelist"))
        context = self.page_context(request, _("Import people"), form=form, **shown)
        return TemplateResponse(request, "admin/stores/cost_center_import.html", context)

    def _plan_or_import(self, request: HttpRequest, form: "PeopleForm") -> dict[str, Any]:
        store, content, viewer = (
            form.cleaned_data["store"],
            form.cleaned_data["text"],
            signed_in_user(request),
        )
        rows = read_people(content)
        plan = plan_people(store=store, rows=rows, viewer=viewer)
        if plan.changes and request.POST.get("seen") == plan.digest:
            import_people(store=store, rows=rows, viewer=viewer)
            count = len(plan.changes)
            message = ngettext(
                "%(count)s change of %(store)s imported.", "%(count)s changes of %(store)s imported.", count
            )
            shown = {"count": number_format(count, force_grouping=True), "store": store}
            messages.success(request, message % shown)
            return {"is_done": True}
        return {"plan": plan, "store": store, "text": content}

    def export_view(self, request: HttpRequest, store_id: int) -> HttpResponse:
        """A CSV as the import reads it: every person on a row, and each cost center without people on one."""
        if not self.has_access(request, "view"):
            raise PermissionDenied
        store = get_object_or_404(Store, pk=store_id)
        content = BOM + b"".join(csv_pieces(PEOPLE_COLUMNS, people_rows(store)))
        name = f"cost-centers-{store.external_id}.csv"
        return HttpResponse(
            content,
            content_type="text/csv; charset=utf-8",
            headers={"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"},
        )

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        for inline_form in formset.forms:
            inline_form.instance.store = form.instance.store
        super().save_formset(request, form, formset, change)
