from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_http_methods, require_safe

from accounts.pages.forms import show_faults
from accounts.pages.guards import signed_in
from applications.registration.models import ApplicationIcon
from applications.registration.pages.forms import IconForm
from applications.registration.pages.frame import frame, opened
from applications.registration.services.icons import CENTRAL_SIDE, MAXIMUM_BYTES, SIDE, set_icon
from fulfillment.core.api.form_limits import takes_large_forms
from fulfillment.core.errors import DomainError
from fulfillment.core.files.downloads import serves_picture
from fulfillment.core.http.dangerous import harmless


@serves_picture
@require_safe
@cache_control(public=True, immutable=True, max_age=31_536_000)
def serve_icon(request: HttpRequest, sha256: str) -> HttpResponse:
    """The URL contains the hash of the content, so caches may keep it. It is public, as the consent page shows it."""
    column = "central_image" if request.GET.get("size") == str(CENTRAL_SIDE) else "image"
    content = ApplicationIcon.objects.filter(sha256=sha256).values_list(column, flat=True).first()
    if content is None:
        raise Http404("There is no icon at this address.")
    return HttpResponse(bytes(content), content_type="image/png")


@harmless
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
@takes_large_forms
def show_icon(request: HttpRequest, application_id: str) -> HttpResponse:
    application = opened(request, application_id)
    form = IconForm()
    if request.method == "POST":
        form = IconForm(request.POST, request.FILES)
        if form.is_valid():
            try:
                icon = set_icon(
                    application=application, content=form.cleaned_data["icon"].read(MAXIMUM_BYTES + 1)
                )
            except DomainError as error:
                show_faults(form, error, {"": "icon"})
            else:
                _say_saved(request, icon)
                return redirect("portal:application-icon", application.pk)
    sizes = {"side": SIDE, "central_side": CENTRAL_SIDE}
    return render(
        request, "applications/icon_page.html", frame(request, application, "icon", form=form, **sizes)
    )


def _say_saved(request: HttpRequest, icon: ApplicationIcon) -> None:
    messages.success(request, "Icon saved.")
    if icon.reaches_outside_centre:
        messages.warning(
            request,
            f"The artwork reaches outside the central {CENTRAL_SIDE} x {CENTRAL_SIDE} pixels; where only those are "
            "shown, it is cut off.",
        )
