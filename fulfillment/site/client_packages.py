"""Downloads of the client libraries built by `make clients`, for pip and npm."""

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from fulfillment.site.pages import PLACEHOLDERS

# Where `make clients` puts them in a checkout, or all in one folder.
BUILT = {"python": ("*.whl", "python/dist/*.whl"), "javascript": ("*.tgz", "typescript/*.tgz")}


@dataclass(frozen=True, slots=True)
class Package:
    language: str
    path: Path

    @property
    def url(self) -> str:
        return settings.PUBLIC_URL + reverse("portal:client-package", args=[self.path.name])


def packages() -> dict[str, Package]:
    """The newest package of each language; none before `make clients`."""
    found = {}
    for language, patterns in BUILT.items():
        files = [file for pattern in patterns for file in settings.CLIENT_PACKAGES.glob(pattern)]
        if files:
            found[language] = Package(language, max(files, key=lambda file: file.stat().st_mtime))
    return found


@require_safe
def show_clients(request: HttpRequest) -> HttpResponse:
    context = {"part": "guide", "public_url": settings.PUBLIC_URL, "packages": packages(), **PLACEHOLDERS}
    return render(request, "portal/clients.html", context)


@require_safe
def download_package(request: HttpRequest, name: str) -> FileResponse:
    package = next((one for one in packages().values() if one.path.name == name), None)
    if package is None:
        raise Http404("There is no such package. The page Client libraries has the current ones.")
    return FileResponse(
        package.path.open("rb"),
        as_attachment=True,
        filename=name,
        content_type="application/octet-stream",
        headers={"Cache-Control": "public, max-age=300"},
    )
