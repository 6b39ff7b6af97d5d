"""Batches in the console: their rows, the decision about one that needs approval, and the portal's pages for staff."""

from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from unfold.decorators import display

from accounts.admin.staff import StaffAdmin, staff_on
from accounts.callers import Caller
from accounts.permissions import ORDER_GRANTS, Permission
from applications.registration.selectors.applications import MYSELF, Requester
from fulfillment.core.admin.base import ExtraPage
from fulfillment.core.admin.read_only import ReadOnlyAdmin
from fulfillment.core.page_messages import errors_as_messages
from stores.batches.models import Batch, BatchMode, BatchStatus, RowState
from stores.batches.overview import BatchPage
from stores.batches.pages.new_batch import show_form
from stores.batches.pages.ordering import cancel, check_again, map_columns, order, send_rows
from stores.batches.pages.showing import (
    BatchSite,
    Opened,
    download_contact_sheet,
    download_rows,
    download_template,
    edit_row,
)
from stores.batches.row_listing import listed_rows
from stores.batches.selectors.batches import counts_of, counts_of_batches, search_condition, shown_batches
from stores.batches.services.approvals import approve_batch, deny_batch, name_of_request
from stores.catalog.admin.scoping import ModeFilter, StoreFilter
from stores.catalog.models import Product
from stores.orders.admin.actors import actor_on
from stores.orders.selectors.access import WORK, authorize_store

TONES: dict[str, str] = {
    BatchStatus.EMPTY: "default",
    BatchStatus.CHECKING: "info",
    BatchStatus.CHECKED: "success",
    BatchStatus.ORDERING: "info",
    BatchStatus.ORDERED: "success",
    BatchStatus.CANCELLED: "default",
}
# The pages of the portal: their address, view and name.
PAGES = (
    ("rows/", send_rows, "rows"),
    ("columns/", map_columns, "mapping"),
    ("check/", check_again, "check"),
    ("order/", order, "order"),
    ("cancel/", cancel, "cancel"),
    ("row/<str:row_key>/", edit_row, "row"),
    ("contact-sheet.pdf", download_contact_sheet, "sheet"),
    ("template.<str:form>", download_template, "template"),
    ("rows.<str:form>", download_rows, "file"),
)
DECIDE, CHANGE = (Permission.ORDER_ALL_APPROVE,), (Permission.ORDER_ALL_WRITE,)


@admin.register(Batch)
class BatchAdmin(ReadOnlyAdmin, StaffAdmin):
    view_grants = (*ORDER_GRANTS, *DECIDE)
    harmless_pages = ("decide", "make")
    list_before_template = "admin/stores/batches_before.html"
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

    @property
    def site(self) -> BatchSite:
        change, listed = "admin:stores_batch_change", "admin:stores_batch_changelist"
        frame = "admin/stores/batch_frame.html"
        return BatchSite(frame, "admin:stores_batch_", change, listed, open_for_staff, self._context, "h2")

    def extra_pages(self) -> list[ExtraPage]:
        return [
            ("<uuid:batch_id>/decide/", require_POST(self.decide_view), "decide"),
            ("of/<int:product_id>/", self.make_view, "make"),
            *(self._portal_page(*page) for page in PAGES),
        ]

    def _portal_page(self, route: str, view: Callable[..., HttpResponseBase], name: str) -> ExtraPage:
        """A page of the portal, with what its decorators say of it."""
        wrapped = update_wrapper(partial(view, site=self.site), view)
        return f"<uuid:batch_id>/{route}", wrapped, name

    def make_view(self, request: HttpRequest, product_id: int) -> HttpResponse:
        active = Product.objects.filter(is_active=True, is_eddm=False).select_related("store")
        product = get_object_or_404(active, pk=product_id)
        if not staff_on(request).holds(CHANGE, product.store_id):
            raise Http404(_("There is no such product that you may order."))
        myself = Requester(MYSELF, "Myself", Caller.on_pages(request.user))
        back = reverse("admin:stores_product_change", args=[product.pk])
        return show_form(request, product.store, product.external_id, [myself], self.site, back)

    def record_context(self, request: HttpRequest, batch: Batch) -> dict[str, Any]:
        holds = staff_on(request).holds
        page = BatchPage(batch, counts_of(batch), may_change=holds(CHANGE, batch.store_id))
        return {
            **listed_rows(page, request.GET),
            "urls": self.site.urls,
            "page": page,
            "batch": batch,
            "counts": page.counts,
            "approval": page.approval,
            "reasons": page.reasons,
            "seen_request": name_of_request(page.approval) if page.approval else "",
            "may_decide": page.waits_for_approval and holds(DECIDE, batch.store_id),
            "orders_query": _orders_query(page) if holds(ORDER_GRANTS, batch.store_id) else "",
        }

    def _context(self, request: HttpRequest) -> dict[str, Any]:
        return {**self.page_context(request, ""), "media": self.media}

    def decide_view(self, request: HttpRequest, batch_id: UUID) -> HttpResponse:
        batch: Batch = get_object_or_404(self.get_queryset(request), pk=batch_id)
        if not staff_on(request).holds(DECIDE, batch.store_id):
            raise PermissionDenied
        note, request_name = request.POST.get("note", "").strip()[:1000], request.POST.get("seen", "")
        with errors_as_messages(request):
            if request.POST.get("decision") == "approve":
                approve_batch(batch=batch, actor=actor_on(request), note=note, request_name=request_name)
                messages.success(request, _("The batch is approved."))
            elif note:
                deny_batch(batch=batch, actor=actor_on(request), reason=note, request_name=request_name)
                messages.success(request, _("The batch is denied."))
            else:
                messages.error(request, _("A denial needs a reason: the person who ordered reads it."))
        return redirect("admin:stores_batch_change", batch.pk)


def open_for_staff(request: HttpRequest, batch_id: UUID) -> Opened:
    batch = get_object_or_404(shown_batches(), pk=batch_id)
    if not staff_on(request).holds(CHANGE, batch.store_id):
        raise Http404(_("There is no such batch that you may change."))
    return Opened(authorize_store(Caller.on_pages(request.user), batch.store.external_id, WORK), batch)


def _orders_query(page: BatchPage) -> str:
    """The filters of the order list that show the batch's orders; empty before there are any."""
    kind = {"kind": "test"} if page.batch.is_test else {}
    has_orders = page.counts.by_state.get(RowState.ORDERED, 0) > 0
    return urlencode({"batch": page.batch.pk} | kind) if has_orders else ""


def _count_text(rows: int) -> str:
    return number_format(rows, force_grouping=True) if rows else "—"
