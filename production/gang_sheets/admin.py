"""The console's page of gang sheets: their jobs, the drawn plan, and when each goes to the press."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from django.contrib import admin
from django.db.models import Count, Min, QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST
from unfold.decorators import display

from accounts.admin.staff import StaffAdmin
from accounts.callers import Caller
from accounts.permissions import ORDER_GRANTS, Permission
from fulfillment.core.admin.base import ExtraPage
from fulfillment.core.files.downloads import streamed_file
from fulfillment.core.text import in_percent
from production.gang_sheets.models import GangSheet, SheetState
from production.gang_sheets.services.archives import sheet_archive
from production.gang_sheets.services.members import send_sheet_now
from production.jobs.models import OF_PRODUCT, OF_STORE, UNREAD
from stores.catalog.admin.scoping import StoreFilter
from stores.orders.admin.actors import actor_on

COLORS: dict[str, str] = {
    SheetState.COLLECTING: "info",
    SheetState.PLANNED: "warning",
    SheetState.SENT: "success",
    SheetState.CANCELLED: "default",
}
WAITING = (SheetState.COLLECTING, SheetState.PLANNED)


class SheetFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("waiting", _("Not sent yet")), *((state.value, str(state.label)) for state in SheetState)]

    def queryset(self, request: HttpRequest, sheets: QuerySet[GangSheet]) -> QuerySet[GangSheet]:
        if self.value() == "waiting":
            return sheets.filter(state__in=WAITING)
        return sheets.filter(state=self.value()) if self.value() in SheetState.values else sheets


@admin.register(GangSheet)
class GangSheetAdmin(StaffAdmin):
    """Jobs that wait for each other, or went together; staff of a store see those of its products."""

    harmless_pages = ("change", "send")
    forbidden = ("add", "delete")
    store_path = "store"
    view_grants: Sequence[str] = ORDER_GRANTS
    change_grants: Sequence[str] = (Permission.ORDER_ALL_WRITE,)
    handles_conflicts = True
    list_display = [
        "number",
        "shown_state",
        "product",
        "kind",
        "jobs_on_it",
        "pieces",
        "ship_by",
        "goes",
        "provider",
    ]
    list_filter = [SheetFilter, StoreFilter]
    list_filter_submit = True
    search_fields = ["product__external_id", "product__name"]
    search_help_text = "Product ID or name"
    list_select_related = ["product", "provider", "store"]
    ordering = ["-id"]
    sortable_by = ()
    empty_page = "admin:production_provider_changelist"
    empty_help = "Turn on gang sheets in the settings of a provider: its jobs are then collected on sheets."
    change_form_outer_before_template = "admin/production/gang_sheet_before.html"
    change_form_outer_after_template = "admin/production/gang_sheet_after.html"
    fields = [
        "number",
        "shown_state",
        "product_name",
        "kind",
        "provider_name",
        "pieces",
        "ship_by",
        "goes",
        "plan",
        "message",
    ]
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[GangSheet]:
        sheets = super().get_queryset(request).annotate(count=Count("jobs"), first_due=Min("jobs__due"))
        unread = [f"product__{name}" for name in OF_PRODUCT] + [f"store__{name}" for name in OF_STORE]
        return sheets.defer(*unread)

    def get_fields(self, request: HttpRequest, sheet: GangSheet | None = None) -> list[str]:
        """Leaves out empty fields, and the number, which is in the heading."""
        filled = {"message": sheet and sheet.message, "number": None}
        return [name for name in self.fields if filled.get(name, True)]

    @display(description="state", label={name: COLORS[value] for value, name in SheetState.choices})
    def shown_state(self, sheet: GangSheet) -> str:
        return sheet.get_state_display()

    @admin.display(description="jobs")
    def jobs_on_it(self, sheet: GangSheet) -> int:
        return int(getattr(sheet, "count", 0))

    @admin.display(description="ship by")
    def ship_by(self, sheet: GangSheet) -> str:
        """The earliest day of its jobs; a sheet whose jobs have left has none."""
        first: date | None = getattr(sheet, "first_due", None)
        return date_format(first, "DATE_FORMAT") if first else "-"

    @admin.display(description="product")
    def product_name(self, sheet: GangSheet) -> str:
        return str(sheet.product)

    @admin.display(description="provider")
    def provider_name(self, sheet: GangSheet) -> str:
        return str(sheet.provider)

    @admin.display(description="send time")
    def goes(self, sheet: GangSheet) -> str:
        if sheet.sent:
            return _("sent %(time)s") % {"time": _format_time(sheet.sent)}
        if sheet.next_try is None:
            return "-"
        if sheet.state == SheetState.COLLECTING:
            is_due = sheet.next_try <= timezone.now()
            return _("now") if is_due else _("at %(time)s") % {"time": _format_time(sheet.next_try)}
        if sheet.failing_since:
            return _("tried again at %(time)s") % {"time": _format_time(sheet.next_try)}
        return _("now")

    @admin.display(description="plan")
    def plan(self, sheet: GangSheet) -> str:
        if sheet.waste is None:
            return _("created when it is sent")
        layouts = ngettext("%(count)s layout", "%(count)s layouts", sheet.layouts) % {"count": sheet.layouts}
        waste = in_percent(Decimal(100 * sheet.waste), 1)
        if sheet.printed_sheets is None:
            return _("%(layouts)s, %(waste)s waste") % {"layouts": layouts, "waste": waste}
        sheets = ngettext("%(count)s sheet", "%(count)s sheets", sheet.printed_sheets) % {
            "count": number_format(sheet.printed_sheets, force_grouping=True)
        }
        return _("%(layouts)s, %(sheets)s with overs, %(waste)s waste") % {
            "layouts": layouts,
            "sheets": sheets,
            "waste": waste,
        }

    def record_context(self, request: HttpRequest, sheet: GangSheet) -> dict[str, Any]:
        may_change = self.has_change_permission(request, sheet)
        return {
            "sheet": sheet,
            "show_save": False,
            "show_save_and_continue": False,
            "jobs": sheet.jobs.select_related("item", "order").defer(*UNREAD).order_by("pk"),
            "may_send": may_change and sheet.state in WAITING,
            "may_download": may_change and bool(self.jobs_on_it(sheet)),
        }

    def extra_pages(self) -> list[ExtraPage]:
        return [
            ("<int:sheet_id>/send", require_POST(self.send_view), "send"),
            ("<int:sheet_id>/files", require_GET(self.files_view), "files"),
        ]

    def send_view(self, request: HttpRequest, sheet_id: int) -> HttpResponse:
        sheet = self.record_for(request, sheet_id)
        message = _("Gang sheet %(sheet)s is being sent.") % {"sheet": sheet}
        actor = actor_on(request)
        return self.call_service(request, sheet, lambda: send_sheet_now(sheet=sheet, actor=actor), message)

    def files_view(self, request: HttpRequest, sheet_id: int) -> StreamingHttpResponse:
        """The PDFs and the JSON ticket as the provider gets them, or would get them now."""
        sheet = self.record_for(request, sheet_id)
        caller = Caller.on_pages(request.user)
        return streamed_file(sheet_archive(sheet), f"gang-sheet-{sheet}.zip", caller.key)


def _format_time(moment: Any) -> str:
    return date_format(localtime(moment), "DATETIME_FORMAT")
