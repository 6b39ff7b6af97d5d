"""The portal's list, forms and overview of an application."""

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
from applications.registration.models import ApplicationIcon
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
from applications.registration.pages.usage_chart import DAYS, chart
from applications.registration.selectors.applications import applications_for, icon_content, select_icons
from applications.registration.selectors.request_log import daily_usage, today
from applications.registration.services.applications import change_application, create_application
from applications.registration.services.icons import CENTRAL_SIDE, MAX_ICON_BYTES, SIDE, set_icon
from fulfillment.core.api.parsing import takes_large_forms
from fulfillment.core.files.downloads import serves_picture
from fulfillment.core.http.dangerous import dangerous, harmless

APPLICATIONS_A_PAGE = 25


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
