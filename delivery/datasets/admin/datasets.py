"""Data sets of counts in the console: compared with the active one, imported, activated and discarded."""

from decimal import Decimal
from typing import Any

from django.contrib import admin, messages
from django.db.models import F, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST
from unfold.decorators import display

from accounts.callers import Caller
from delivery.datasets.csv_export import export_lines
from delivery.datasets.models import Dataset, DatasetStatus, LiveDataset
from delivery.datasets.populations import ROUTE_TYPE_NAMES
from delivery.datasets.selectors import (
    compare_datasets,
    live_dataset,
    loaded_datasets,
    routes_in,
)
from delivery.datasets.services.datasets import activate_dataset, discard_dataset
from delivery.datasets.sources.cells import read_postal_code
from fulfillment.core.admin.base import ExtraPage
from fulfillment.core.admin.confirmation import confirmation_page
from fulfillment.core.admin.read_only import ReadOnlyAdmin
from fulfillment.core.files.downloads import streamed_file
from fulfillment.core.page_messages import errors_as_messages
from fulfillment.core.text import in_percent

MINIMUM_PIECES = 200
COLORS: dict[str, str] = {
    DatasetStatus.ACTIVE: "success",
    DatasetStatus.READY: "info",
    DatasetStatus.RETIRED: "warning",
    DatasetStatus.DISCARDED: "default",
}


@admin.register(Dataset)
class DatasetAdmin(ReadOnlyAdmin):
    harmless_pages = ("look_up", "export", "activate", "discard")
    list_display = [
        "shown_vintage", "shown_status", "route_types", "postal_code_count", "route_count", "deliveries",
        "difference", "file_name", "created_by",
    ]  # fmt: skip
    list_filter = ["status"]
    search_fields = ["file_name", "created_by", "sha256"]
    search_help_text = "File, its SHA-256, or who imported it"
    empty_help = "Import a file of delivery counts to make the first one."
    list_before_template = "admin/delivery/dataset_list_before.html"
    list_tools_template = "admin/delivery/dataset_tools.html"
    change_form_outer_after_template = "admin/delivery/dataset_after.html"
    fieldsets = [
        (None, {"fields": ["shown_vintage", "shown_status", "is_synthetic", "is_merged"]}),
        (
            "Counts",
            {"fields": ["route_types", "postal_code_count", "route_count", "homes", "firms"]},
        ),
        ("Source", {"fields": ["file_name", "source_format", "sha256", "created", "created_by"]}),
        ("Activation", {"fields": ["activated", "activated_by"]}),
    ]

    @admin.display(description="vintage", ordering="vintage")
    def shown_vintage(self, dataset: Dataset) -> str:
        return dataset.vintage_label

    @display(description="status", label={label: COLORS[value] for value, label in DatasetStatus.choices})
    def shown_status(self, dataset: Dataset) -> str:
        return dataset.get_status_display()

    @admin.display(description=gettext_lazy("residential"))
    def homes(self, dataset: Dataset) -> str:
        return number_format(dataset.residential, force_grouping=True)

    @admin.display(description=gettext_lazy("business"))
    def firms(self, dataset: Dataset) -> str:
        return number_format(dataset.business, force_grouping=True)

    @admin.display(description="deliveries")
    def deliveries(self, dataset: Dataset) -> str:
        return number_format(dataset.total, force_grouping=True)

    @admin.display(description="compared with active")
    def difference(self, dataset: Dataset) -> str:
        live_total: int | None = dataset.live_total  # type: ignore[attr-defined]  # annotated below
        if dataset.status in {DatasetStatus.ACTIVE, DatasetStatus.DISCARDED} or not live_total:
            return ""
        change = Decimal(dataset.total - live_total) * 100 / live_total
        return f"{'+' if change >= 0 else ''}{in_percent(change, 2)}"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Dataset]:
        live = LiveDataset.objects.annotate(total=F("dataset__residential") + F("dataset__business"))
        return super().get_queryset(request).annotate(live_total=Subquery(live.values("total")[:1]))

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().changelist_view(request, {**(extra_context or {}), "live": live_dataset()})

    def record_context(self, request: HttpRequest, record: Dataset) -> dict[str, Any]:
        dataset, live = loaded_datasets().filter(pk=record.pk).first(), live_dataset()
        return {
            "totals": _count_totals(dataset) if dataset else None,
            "comparison": compare_datasets(live, dataset) if dataset and live and live != dataset else None,
            "live": live,
            "is_loaded": dataset is not None,
        }

    def extra_pages(self) -> list[ExtraPage]:
        return [
            ("look-up/", self.look_up_view, "look_up"),
            ("<int:dataset_id>/export/", self.export_view, "export"),
            ("<int:dataset_id>/activate/", require_POST(self.activate_view), "activate"),
            ("<int:dataset_id>/discard/", require_POST(self.discard_view), "discard"),
        ]

    def look_up_view(self, request: HttpRequest) -> HttpResponse:
        entered = request.GET.get("postal_code", "").strip()[:20]
        postal_code, flaw = read_postal_code(entered)
        live = live_dataset()
        routes = routes_in(live, postal_code) if live and postal_code else None
        context = self.page_context(
            request,
            _("Routes of %(postal_code)s") % {"postal_code": postal_code}
            if postal_code
            else _("Look up a ZIP code"),
            entered=entered,
            postal_code=postal_code,
            is_malformed=bool(entered) and flaw == "E_ZIP",
            live=live,
            routes=_routes_table(routes, live) if routes and live else None,
            sums=_sum_routes(routes, live) if routes and live else None,
        )
        return TemplateResponse(request, "admin/delivery/look_up.html", context)

    def export_view(self, request: HttpRequest, dataset_id: int) -> StreamingHttpResponse:
        dataset = get_object_or_404(loaded_datasets(), pk=dataset_id)
        lines = (line.encode() for line in export_lines(dataset))
        name = f"eddm-{dataset.vintage:%Y-%m}-{dataset.pk}.csv"
        return streamed_file(lines, name, Caller.on_pages(request.user).key)

    def activate_view(self, request: HttpRequest, dataset_id: int) -> HttpResponse:
        with errors_as_messages(request):
            dataset = activate_dataset(
                dataset_id=dataset_id,
                by=request.user.get_username(),
                despite_concerns="despite_concerns" in request.POST,
            )
            message = _("The API answers from data set %(dataset)s now.")
            messages.success(request, message % {"dataset": dataset})
        return redirect(_dataset_address(dataset_id))

    def discard_view(self, request: HttpRequest, dataset_id: int) -> HttpResponse:
        dataset = get_object_or_404(Dataset, pk=dataset_id)
        question = _("Discard data set %(dataset)s? Its counts are deleted; only its record stays.") % {
            "dataset": dataset
        }
        if page := confirmation_page(
            self, request, question=question, button=_("Discard"), back=self.address_of(dataset)
        ):
            return page
        with errors_as_messages(request):
            discarded = discard_dataset(dataset_id=dataset_id)
            message = _("Data set %(dataset_id)s was discarded.")
            messages.success(request, message % {"dataset_id": discarded})
        return redirect("admin:delivery_dataset_changelist")


def _dataset_address(dataset_id: int) -> str:
    dataset = Dataset.objects.filter(pk=dataset_id).first()
    return DatasetAdmin.address_of(dataset) if dataset else reverse("admin:delivery_dataset_changelist")


def _count_totals(dataset: Dataset) -> list[dict[str, Any]]:
    return [
        {
            "name": f"{letter} {_(ROUTE_TYPE_NAMES[letter])}",
            "numbers": (routes, homes, firms, homes + firms),
            "is_counted": letter in dataset.route_types,
        }
        for letter, (routes, homes, firms) in sorted(dataset.totals_by_type.items())
    ]


def _routes_table(routes: list[tuple[str, int, int]], live: Dataset) -> dict[str, list[Any]]:
    return {
        "headers": [_("Route"), _("Type"), _("Residential"), _("Business"), _("Total"), _("Notes")],
        "rows": [
            [
                route,
                _(ROUTE_TYPE_NAMES[route[0]]),
                homes,
                firms,
                homes + firms,
                _comparison_note(route, homes + firms, live),
            ]
            for route, homes, firms in routes
        ],
    }


def _comparison_note(route: str, total: int, live: Dataset) -> str:
    if route[0] not in live.route_types:
        return _("not counted")
    return _("under %(count)s") % {"count": MINIMUM_PIECES} if total < MINIMUM_PIECES else ""


def _sum_routes(routes: list[tuple[str, int, int]], live: Dataset) -> tuple[int, int, int]:
    counts = [(homes, firms) for route, homes, firms in routes if route[0] in live.route_types]
    residential, business = sum(homes for homes, _ in counts), sum(firms for _, firms in counts)
    return residential, business, residential + business
