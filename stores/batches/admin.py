"""Batches in the console: their rows, and the decision about one that needs approval."""

from collections.abc import Collection
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from unfold.decorators import display

from accounts.admin.staff import StaffAdmin, staff_on
from accounts.permissions import Permission
from fulfillment.core.admin.base import ExtraPage
from fulfillment.core.admin.read_only import ReadOnlyAdmin
from fulfillment.core.page_messages import errors_as_messages
from stores.batches.models import Batch, BatchMode, BatchStatus, RowState
from stores.batches.overview import BatchPage
from stores.batches.row_listing import listed_rows
from stores.batches.selectors.batches import counts_of, counts_of_batches, search_condition
from stores.batches.services.approvals import approve_batch, deny_batch, name_of_request
from stores.catalog.admin.scoping import ORDER_GRANTS, ModeFilter, StoreFilter
from stores.orders.admin.actions import actor_on

TONES: dict[str, str] = {
    BatchStatus.EMPTY: "default",
    BatchStatus.CHECKING: "info",
    BatchStatus.CHECKED: "success",
    BatchStatus.ORDERING: "info",
    BatchStatus.ORDERED: "success",
    BatchStatus.CANCELLED: "default",
}
DECIDE, CHANGE = (Permission.ORDER_ALL_APPROVE,), (Permission.ORDER_ALL_WRITE,)


class BatchAdmin(ReadOnlyAdmin, StaffAdmin):
    view_grants = (*ORDER_GRANTS, *DECIDE)
    harmless_pages: Collection[str] = ("decide",)
    list_display = [
        "__str__",
        "shown_status",
        "product_of_store",
        "rows_counted",
        "problems",
        "total",
        "created",
    ]
    # A batch has 20,000 rows at most, and those of a page are counted.
    list_per_page = 25
    list_filter = [StoreFilter, ModeFilter, "status"]
    list_filter_submit = True
    search_fields = ["name", "product__name", "id"]
    search_help_text = "Name, product or BatchID"
    empty_help = "People order files of rows in the portal, and applications do it through the API."
    ordering = ["-created"]
    change_form_outer_before_template = "admin/stores/batch_before.html"
    fields = [
        *("name", "product", "store", "recipients", "application", "user", "test_batch"),
        *("external_id", "note", "created", "updated", "batch_id"),
    ]

    class Media:
        css = {"all": ["brand/grid.css", "brand/artwork.css", "brand/preflight.css"]}

    @display(
        description="status",
        ordering="status",
        label={name: TONES[value] for value, name in BatchStatus.choices},
    )
    def shown_status(self, batch: Batch) -> str:
        return batch.get_status_display()

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Counts the rows of all batches of the page in one statement."""
        changelist = super().get_changelist_instance(request)
        batches = changelist.result_list = list(changelist.result_list)
        counts = counts_of_batches(batches)
        for batch in batches:
            batch.counts = counts[batch.pk]
        return changelist

    @admin.display(description="product")
    def product_of_store(self, batch: Batch) -> SafeString:
        template = '<div>{}<br><span class="console-facts">{}</span></div>'
        return format_html(template, batch.product.name, batch.store)

    @admin.display(description="rows")
    def rows_counted(self, batch: Any) -> str:
        return _count_text(batch.counts.rows)

    @admin.display(description="with problems")
    def problems(self, batch: Any) -> str:
        return _count_text(batch.counts.with_problems)

    @admin.display(description="total")
    def total(self, batch: Any) -> str:
        total = number_format(batch.counts.total, 2, force_grouping=True)
        return f"{total} {batch.store.currency}" if batch.counts.rows else "—"

    @admin.display(description="recipients", ordering="mode")
    def recipients(self, batch: Batch) -> str:
        return _("One for all rows") if batch.mode == BatchMode.ITEMS else _("One for each row")

    @admin.display(description="BatchID")
    def batch_id(self, batch: Batch) -> str:
        return str(batch.pk)

    @admin.display(description="test", boolean=True)
    def test_batch(self, batch: Batch) -> bool:
        return batch.is_test

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        return super().get_queryset(request).select_related("store", "product__store", "application", "user")

    def scope_queryset(self, request: HttpRequest, records: QuerySet) -> QuerySet:
        """Approvers see those that were to be approved."""
        visible = staff_on(request).visible
        own = visible(Batch.objects.order_by(), self.store_path, ORDER_GRANTS)
        to_approve = visible(Batch.objects.filter(approval__isnull=False).order_by(), self.store_path, DECIDE)
        return records.filter(Q(pk__in=own.values("pk")) | Q(pk__in=to_approve.values("pk")))

    def get_search_results(
        self, request: HttpRequest, records: QuerySet, search_term: str
    ) -> tuple[QuerySet, bool]:
        return records.filter(search_condition(search_term)), False

    def extra_pages(self) -> list[ExtraPage]:
        return [
            ("<uuid:batch_id>/decide/", require_POST(self.decide_view), "decide"),
        ]

    def record_context(self, request: HttpRequest, batch: Batch) -> dict[str, Any]:
        holds = staff_on(request).holds
        page = BatchPage(batch, counts_of(batch), may_change=holds(CHANGE, batch.store_id))
        return {
            **listed_rows(page, request.GET),
            "page": page,
            "batch": batch,
            "counts": page.counts,
            "approval": page.approval,
            "reasons": page.reasons,
            "seen_request": name_of_request(page.approval) if page.approval else "",
            "may_decide": page.waits_for_approval and holds(DECIDE, batch.store_id),
            "orders_query": _orders_query(page) if holds(ORDER_GRANTS, batch.store_id) else "",
        }

    def decide_view(self, request: HttpRequest, batch_id: UUID) -> HttpResponse:
        batch: Batch = get_object_or_404(self.get_queryset(request), pk=batch_id)
        if not staff_on(request).holds(DECIDE, batch.store_id):
            raise PermissionDenied
        note, seen = request.POST.get("note", "").strip()[:1000], request.POST.get("seen", "")
        with errors_as_messages(request):
            if request.POST.get("decision") == "approve":
                approve_batch(batch=batch, actor=actor_on(request), note=note, seen=seen)
                messages.success(request, _("The batch is approved."))
            elif note:
                deny_batch(batch=batch, actor=actor_on(request), reason=note, seen=seen)
                messages.success(request, _("The batch is denied."))
            else:
                messages.error(request, _("A denial needs a reason: the person who ordered reads it."))
        return redirect("admin:stores_batch_change", batch.pk)


def _orders_query(page: BatchPage) -> str:
    """The filters of the order list that show the batch's orders; empty before there are any."""
    kind = {"kind": "test"} if page.batch.is_test else {}
    has_orders = page.counts.by_state.get(RowState.ORDERED, 0) > 0
    return urlencode({"batch": page.batch.pk} | kind) if has_orders else ""


def _count_text(rows: int) -> str:
    return number_format(rows, force_grouping=True) if rows else "—"
