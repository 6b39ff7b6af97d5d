"""The guide, the downloads of the client libraries, and the error pages."""

import sys

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from fulfillment.core.api.errors import (
    database_unavailable,
    forbidden,
    internal_error,
    is_database_unavailable,
    logged_as_unavailable,
    unknown_path,
    unreadable_request,
)
from fulfillment.core.code_examples import packages
from fulfillment.core.errors import ServiceBusy, TooManyAtOnce, Unavailable
from fulfillment.core.http.addresses import is_api
from fulfillment.core.http.refusal_page import refusal_page
from fulfillment.core.observability.logs import current_trace
from fulfillment.core.recorded_texts import translated

PLACEHOLDERS = {
    "client_id": "YOUR_CLIENT_ID",
    "key": "YOUR_KEY",
    "subscription_key": "YOUR_SUBSCRIPTION_KEY",
    "reply_url": "https://your.example/callback",
    "store_id": "demo",
}


@require_safe
def show_guide(request: HttpRequest) -> HttpResponse:
    return render(
        request, "portal/guide.html", {"part": "guide", "public_url": settings.PUBLIC_URL, **PLACEHOLDERS}
    )


def handler400(request: HttpRequest, exception: Exception) -> HttpResponse:
    if is_api(request.path_info):
        return unreadable_request()
    return _render_bare("portal/400.html", 400)


def handler403(request: HttpRequest, exception: Exception) -> HttpResponse:
    if is_api(request.path_info):
        return forbidden()
    message = translated(exception) if isinstance(exception, PermissionDenied) else ""
    return render(request, "portal/403.html", {"message": message}, status=403)


def handler404(request: HttpRequest, exception: Exception) -> HttpResponse:
    if is_api(request.path_info):
        return unknown_path(request)
    # Http404 of the resolver contains all URL patterns; ours contain a message.
    message = exception.args[0] if isinstance(exception, Http404) and exception.args else ""
    shown = translated(message) if isinstance(message, str) else ""
    return render(request, "portal/404.html", {"message": shown}, status=404)


def handler500(request: HttpRequest) -> HttpResponse:
    """Renders without the database, which may be the cause of the error."""
    error = sys.exc_info()[1]
    if isinstance(error, ServiceBusy | TooManyAtOnce):
        # A middleware read the body, as the check against forged forms does.
        return refusal_page(error)
    if error is not None and is_database_unavailable(error):
        if is_api(request.path_info):
            return database_unavailable(error)
        page = _render_bare("portal/503.html", 503, {"Retry-After": str(Unavailable.retry_after)})
        return logged_as_unavailable(error, page)
    if is_api(request.path_info):
        return internal_error()
    return _render_bare("portal/500.html", 500)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(request, "portal/csrf.html", status=403)


def _render_bare(template: str, status: int, headers: dict[str, str] | None = None) -> HttpResponse:
    """Renders without the request, so that neither session nor user is queried."""
    trace = current_trace.get()
    page = render_to_string(template, {"request_id": trace.trace_id if trace else ""})
    return HttpResponse(page, status=status, headers={"Cache-Control": "no-store", **(headers or {})})


@require_safe
def show_clients(request: HttpRequest) -> HttpResponse:
    context = {"part": "guide", "public_url": settings.PUBLIC_URL, "packages": packages(), **PLACEHOLDERS}
    return render(request, "portal/clients.html", context)


@require_safe
def download_package(request: HttpRequest, name: str) -> FileResponse:
    package = next((candidate for candidate in packages().values() if candidate.path.name == name), None)
    if package is None:
        raise Http404(_("There is no such package. The page Client libraries has the current ones."))
    return FileResponse(
        package.path.open("rb"),
        as_attachment=True,
        filename=name,
        content_type="application/octet-stream",
        headers={"Cache-Control": "public, max-age=300"},
    )
