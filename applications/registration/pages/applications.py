"""The portal's list, forms and overview of an application, with a chart of its calls."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from accounts.callers import Caller
from accounts.pages.forms import faults_shown
from accounts.pages.guards import signed_in_form, signed_in_page
from applications.registration.models import ApplicationIcon, DailyUsage
from applications.registration.pages.forms import (
    APPLICATION_FIELDS,
    ChangeApplicationForm,
    IconForm,
    NewApplicationForm,
)
from applications.registration.pages.frame import (
    page_context,
    require_access,
    require_readable,
    require_writable,
)
from applications.registration.pages.home import open_checklist
from applications.registration.selectors.applications import applications_for, icon_content, select_icons
from applications.registration.selectors.request_log import daily_usage, today
from applications.registration.services.applications import change_application, create_application
from applications.registration.services.icons import CENTRAL_SIDE, MAX_ICON_BYTES, SIDE, set_icon
from fulfillment.core.api.parsing import takes_large_forms
from fulfillment.core.files.downloads import serves_picture
from fulfillment.core.http.dangerous import dangerous, harmless

DAYS = 30
WIDTH, HEIGHT, GAP = 600, 120, 4
# One error among a million calls stays visible.
MIN_HEIGHT = 2.0
APPLICATIONS_A_PAGE = 25


@dataclass(frozen=True, slots=True)
class Block:
    kind: str
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class UsageDay:
    day: date
    good: int
    client_errors: int
    server_errors: int

    @property
    def calls(self) -> int:
        return self.good + self.client_errors + self.server_errors


@dataclass(frozen=True, slots=True)
class UsageColumn:
    day: UsageDay
    x: float
    width: float
    blocks: list[Block]


@dataclass(frozen=True, slots=True)
class Usage:
    days: list[UsageDay]
    columns: list[UsageColumn]
    top: int

    @property
    def calls(self) -> int:
        return sum(day.calls for day in self.days)

    @property
    def client_errors(self) -> int:
        return sum(day.client_errors for day in self.days)

    @property
    def server_errors(self) -> int:
        return sum(day.server_errors for day in self.days)


def chart(rows: Iterable[DailyUsage], *, until: date) -> Usage:
    counted = {row.day: row for row in rows}
    dates = [until - timedelta(days=back) for back in reversed(range(DAYS))]
    days = [_make_day(each, counted.get(each)) for each in dates]
    top = round_up(max(day.calls for day in days))
    step = WIDTH / DAYS
    columns = [
        UsageColumn(day, round(index * step + GAP / 2, 2), step - GAP, list(_stack_blocks(day, top)))
        for index, day in enumerate(days)
    ]
    return Usage(days, columns, top)


def round_up(calls: int) -> int:
    """The top of the scale: 1, 2 or 5 times a power of ten."""
    size = 1
    while True:
        for factor in (1, 2, 5):
            if factor * size >= calls:
                return factor * size
        size *= 10


def _make_day(day: date, row: DailyUsage | None) -> UsageDay:
    if row is None:
        return UsageDay(day, 0, 0, 0)
    successes = max(0, row.calls - row.client_errors - row.server_errors)
    return UsageDay(day, successes, row.client_errors, row.server_errors)


def _stack_blocks(day: UsageDay, top: int) -> Iterator[Block]:
    """The blocks of a bar from the bottom up: successes, client errors, server errors."""
    counts = {"good": day.good, "client-errors": day.client_errors, "server-errors": day.server_errors}
    heights = {kind: max(MIN_HEIGHT, HEIGHT * count / top) for kind, count in counts.items() if count}
    if heights:
        # The largest block gives up what was added to small ones.
        tallest = max(heights, key=lambda kind: heights[kind])
        heights[tallest] -= max(0, sum(heights.values()) - HEIGHT)
    ground = float(HEIGHT)
    for kind, height in heights.items():
        ground -= height
        yield Block(kind, round(ground, 2), round(height, 2))


@signed_in_page
def list_applications(request: HttpRequest) -> HttpResponse:
    searched = request.GET.get("q", "").strip()[:200]
    applications = select_icons(applications_for(Caller.on_pages(request.user))).order_by("name", "pk")
    if searched:
        applications = applications.filter(Q(name__icontains=searched) | Q(client_id__icontains=searched))
    page = Paginator(applications, APPLICATIONS_A_PAGE).get_page(request.GET.get("page"))
    return render(
        request, "applications/list.html", {"page": page, "searched": searched, "part": "applications"}
    )


@signed_in_form(harmless)
def new_application(request: HttpRequest) -> HttpResponse:
    form = NewApplicationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with faults_shown(form, APPLICATION_FIELDS):
            application = create_application(caller=Caller.on_pages(request.user), values=form.values())
            messages.success(request, _("%(name)s created.") % {"name": application.name})
            return redirect("portal:application", application.pk)
    return render(request, "applications/new.html", {"form": form, "part": "applications"})


@signed_in_page
def show_application(request: HttpRequest, application_id: str) -> HttpResponse:
    application = require_readable(request, application_id)
    if application.user_id == request.user.pk:
        # The page shows the owner, who is already loaded.
        application.user = request.user
    now = timezone.now()
    steps = {
        "key": application.keys.filter(start_date__lte=now, end_date__gt=now).exists(),
        "icon": hasattr(application, "icon"),
        "reply": bool(application.reply_urls),
    }
    context = page_context(request, application, "overview", done=steps, complete=all(steps.values()))
    if context["may_write"] and not application.is_first_party:
        context["checklist"] = open_checklist(application)
    context["usage"] = chart(daily_usage(application_ids=[application.pk], days=DAYS), until=today())
    return render(request, "applications/overview.html", context)


@signed_in_form(dangerous(gettext_lazy("Change the settings of an application")))
def edit_application(request: HttpRequest, application_id: str) -> HttpResponse:
    application = require_writable(request, application_id)
    initial = {column: getattr(application, column) for column in APPLICATION_FIELDS.values()}
    form = ChangeApplicationForm(request.POST or None, initial=initial, instance=application)
    if request.method == "POST" and form.is_valid():
        with faults_shown(form, APPLICATION_FIELDS):
            change_application(application=application, values=form.values())
            messages.success(request, _("Changes saved."))
            return redirect("portal:application-edit", application.pk)
        # The page header shows the stored values, not the refused ones.
        application.refresh_from_db()
    return render(
        request, "applications/edit.html", page_context(request, application, "settings", form=form)
    )


@serves_picture
@require_safe
@cache_control(public=True, immutable=True, max_age=31_536_000)
def serve_icon(request: HttpRequest, sha256: str) -> HttpResponse:
    """The URL contains the hash of the content, so caches may keep it. It is public, as the consent page shows it."""
    content = icon_content(sha256, is_central=request.GET.get("size") == str(CENTRAL_SIDE))
    if content is None:
        raise Http404(_("There is no icon at this address."))
    return HttpResponse(content, content_type="image/png")


@signed_in_form(harmless)
@takes_large_forms
def show_icon(request: HttpRequest, application_id: str) -> HttpResponse:
    application = require_access(request, application_id)
    form = IconForm(request.POST, request.FILES) if request.method == "POST" else IconForm()
    if form.is_valid():
        with faults_shown(form, {"": "icon"}):
            content = form.cleaned_data["icon"].read(MAX_ICON_BYTES + 1)
            _say_saved(request, set_icon(application=application, content=content))
            return redirect("portal:application-icon", application.pk)
    sizes = {"side": SIDE, "central_side": CENTRAL_SIDE}
    return render(
        request, "applications/icon_page.html", page_context(request, application, "icon", form=form, **sizes)
    )


def _say_saved(request: HttpRequest, icon: ApplicationIcon) -> None:
    messages.success(request, _("Icon saved."))
    if icon.reaches_outside_centre:
        messages.warning(
            request,
            _(
                "The artwork reaches outside the central %(central_side)s × %(central_side)s pixels; "  # noqa: RUF001 - a multiplication sign is meant
                "where only those are shown, it is cut off."
            )
            % {"central_side": CENTRAL_SIDE},
        )
