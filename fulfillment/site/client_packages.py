"""Downloads of the client libraries."""

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from fulfillment.core.client_packages import packages
from fulfillment.site.pages import PLACEHOLDERS


@require_safe
def show_clients(request: HttpRequest) -> HttpResponse:
    context = {"part": "guide", "public_url": settings.PUBLIC_URL, "packages": packages(), **PLACEHOLDERS}
    return render(request, "portal/clients.html", context)


@require_safe
def download_package(request: HttpRequest, name: str) -> FileResponse:
    package = next((one for one in packages().values() if one.path.name == name), None)
    if package is None:
        raise Http404(_("There is no such package. The page Client libraries has the current ones."))
    return FileResponse(
        package.path.open("rb"),
        as_attachment=True,
        filename=name,
        content_type="application/octet-stream",
        headers={"Cache-Control": "public, max-age=300"},
    )
