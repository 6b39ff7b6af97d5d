"""The columns of the production board and the fields of a job's page."""

from datetime import datetime

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from unfold.decorators import display
from unfold.widgets import CHECKBOX_CLASSES

from accounts.admin.staff import StaffAdmin
from production.gang_sheets.models import SheetState
from production.jobs.models import OPEN, Job, JobState
from production.jobs.selectors import OrderPlace, order_places, page_count
from stores.catalog.models import Product
from stores.orders.selectors.items import ordered_product, preset_name

COLORS: dict[str, str] = {
    JobState.QUEUED: "default",
    JobState.SENT: "info",
    JobState.ACKNOWLEDGED: "info",
    JobState.IN_PRODUCTION: "warning",
    JobState.SHIPPED: "success",
    JobState.FAILED: "danger",
    JobState.CANCELLED: "default",
}
# Links to jobs of the same order; its page has all of them.
LINKED, LINKED_IN_LIST = 20, 4
CHECKBOX = '<input type="checkbox" name="{}" value="{}" class="{}" aria-label="Choose job {}">'


class JobColumns(StaffAdmin):
    @display(description=StaffAdmin.action_checkbox.short_description)
    def action_checkbox(self, job: Job) -> SafeString:
        """Writes the checkbox as the widget does, without its templates: they take a third of the time of a row."""
        return format_html(
            CHECKBOX, ACTION_CHECKBOX_NAME, job.pk, " ".join([*CHECKBOX_CLASSES, "action-select"]), job
        )

    @display(description="state", label={name: COLORS[value] for value, name in JobState.choices})
    def shown_state(self, job: Job) -> str:
        return job.get_state_display()

    @admin.display(description="product")
    def product(self, job: Job) -> str:
        return f"{job.quantity:,} × {job.item.product_name}"  # noqa: RUF001 - a multiplication sign is meant

    @admin.display(description="product")
    def pictured_product(self, job: Job) -> SafeString:
        product = self.product(job)
        return format_html(
            '<span class="console-named">{}<span>{}</span></span>', _show_picture(job), product
        )

    @admin.display(description="trimmed size")
    def size(self, job: Job) -> str:
        product = job.item.product
        return f"{product.width_mm.normalize():f} × {product.height_mm.normalize():f} mm"  # noqa: RUF001 - a multiplication sign is meant

    @admin.display(description="paper and finish")
    def paper(self, job: Job) -> str:
        return paper_of(ordered_product(job.item))

    @admin.display(description="print preset")
    def preset(self, job: Job) -> str:
        return preset_name(job.item)

    @admin.display(description="sides")
    def sides(self, job: Job) -> str:
        """How the back of a sheet lies, and the edge that pages turn on."""
        product = ordered_product(job.item)
        if page_count(job.item.product) == 1 or product.is_one_sided:
            return _("One side")
        words = _("Two sides, head to foot") if product.is_head_to_foot else _("Two sides, head to head")
        binding = _(product.get_binding_display()) if product.binding else ""
        edge = _(product.get_binding_edge_display()) if product.binding_edge else ""
        edge_text = _("binding edge: %(edge)s") % {"edge": edge.lower()} if edge else ""
        return " · ".join(filter(None, [words, binding, edge_text]))

    @admin.display(description="product")
    def product_of_store(self, job: Job) -> SafeString:
        position = getattr(job, "place_in_list", None)
        siblings = ""
        if position and position.other_jobs:
            siblings = format_html(" · {}: {}", *_show_siblings(position, LINKED_IN_LIST))
        template = '<div>{}<br><span class="console-facts">{}{}</span></div>'
        return format_html(template, self.product(job), job.store, siblings)

    @admin.display(description="ship by")
    def due_when(self, job: Job) -> SafeString:
        days_late = (timezone.localdate() - job.due).days
        due_date = date_format(job.due, "DATE_FORMAT")
        if days_late <= 0 or job.state not in OPEN:
            return format_html('<span class="whitespace-nowrap">{}</span>', due_date)
        words = ngettext("%(days)s day late", "%(days)s days late", days_late) % {"days": days_late}
        template = (
            '<div><span class="whitespace-nowrap">{}</span><br><span class="console-late">{}</span></div>'
        )
        return format_html(template, due_date, words)

    @admin.display(description="deliver by")
    def deliver_by(self, job: Job) -> str:
        return date_format(job.order.latest_delivery, "DATE_FORMAT")

    @admin.display(description="jobs of the order")
    def place_in_order(self, job: Job) -> str | SafeString:
        """Shows the place that tickets say, such as “2 of 3”, above links to the other jobs."""
        place = order_places([job])[job.pk]
        return format_html("<div>{}<br>{}</div>", *_show_siblings(place, LINKED)) if place.total else "—"

    @admin.display(description="provider")
    def provider_name(self, job: Job) -> str:
        return str(job.provider or "—")

    @admin.display(description="provider")
    def provider_link(self, job: Job) -> SafeString:
        address = reverse("admin:production_provider_change", args=[job.provider_id])
        return format_html('<a class="console-link" href="{}">{}</a>', address, job.provider)

    @admin.display(description="order")
    def order_link(self, job: Job) -> SafeString:
        address = reverse("admin:stores_order_change", args=[job.order_id])
        return format_html('<a class="console-link" href="{}">{}</a>', address, job.order.number)

    @admin.display(description="number")
    def shown_number(self, job: Job) -> SafeString:
        template = '<span class="console-named">{}<span class="whitespace-nowrap">{}</span></span>'
        return format_html(template, _show_picture(job), job.number)

    @admin.display(description="note")
    def note(self, job: Job) -> str | SafeString:
        if waits_on_sheet(job):
            return self.sheet_link(job)
        return Truncator(self.trouble(job)).chars(70)

    @admin.display(description="gang sheet")
    def sheet_link(self, job: Job) -> str | SafeString:
        sheet = job.gang_sheet
        if sheet is None:
            return "—"
        address = reverse("admin:production_gangsheet_change", args=[sheet.pk])
        is_waiting = sheet.state == SheetState.COLLECTING and sheet.next_try
        send_time = (
            _(", to be sent at %(next_try)s") % {"next_try": _show_time(sheet.next_try)} if is_waiting else ""
        )
        return format_html(
            '<div><a class="console-link" href="{}">{}</a>{}</div>',
            address,
            _("Gang sheet %(number)s") % {"number": sheet},
            send_time,
        )

    @admin.display(description="order at the provider")
    def sent_with(self, job: Job) -> str:
        jobs = Job.objects.filter(order=job.order_id, provider_order=job.provider_order)
        numbers = jobs.order_by("item__position").values_list("number", flat=True)
        return _("%(provider_order)s with the jobs %(numbers)s") % {
            "provider_order": job.provider_order,
            "numbers": ", ".join(numbers),
        }

    @admin.display(description="note")
    def trouble(self, job: Job) -> str:
        parts = [job.get_held_display()] if job.held else []
        parts += [_("to be cancelled")] if job.cancel_requested and job.state != JobState.CANCELLED else []
        parts += [_("may be at the provider")] if job.is_uncertain else []
        return " · ".join([*parts, *([job.message] if job.message else [])])


def _show_time(moment: datetime | None) -> str:
    """Writes the time, with the day unless it is today."""
    local = localtime(moment)
    return date_format(
        local, "TIME_FORMAT" if local.date() == localtime().date() else "SHORT_DATETIME_FORMAT"
    )


def paper_of(product: Product) -> str:
    """Describes the product's paper as tickets do; empty where the product says nothing."""
    weight = f"{product.stock_weight_gsm} g/m²" if product.stock_weight_gsm else ""
    coating = _(product.get_coating_display()) if product.coating else ""
    return " · ".join(filter(None, [product.stock_code, weight, coating, product.finish]))


def waits_on_sheet(job: Job) -> bool:
    """Whether the job waits on a sheet and has no other problem."""
    return bool(
        job.gang_sheet_id and job.state == JobState.QUEUED and not (job.is_uncertain or job.cancel_requested)
    )


def _show_siblings(position: OrderPlace, limit: int) -> tuple[str, SafeString]:
    """Returns words such as “2 of 3”, and links to the other jobs."""
    words = _("%(number)s of %(total)s") % {"number": position.number, "total": position.total}
    pages = [
        (reverse("admin:production_job_change", args=[job.pk]), job.number) for job in position.other_jobs
    ]
    template = '<a class="console-link whitespace-nowrap" href="{}">{}</a>'
    links = format_html_join(", ", template, pages[:limit])
    if len(pages) > limit:
        links = format_html("{} {}", links, _("and %(number)s more") % {"number": len(pages) - limit})
    return words, links


def _show_picture(job: Job) -> SafeString:
    """The print file's first page; an erased one has none."""
    if not job.item.print_file:
        return format_html('<span class="orders-thumb">{}</span>', "")
    address = reverse("admin:stores_order_print_picture", args=[job.order_id, job.item.position, 0, "small"])
    template = '<span class="orders-thumb"><img src="{}?v={}" alt="" loading="lazy" data-retry></span>'
    return format_html(template, address, (job.item.print_sha256 or "")[:8])
