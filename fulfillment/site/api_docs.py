"""The interactive reference at /api/v1/docs: Swagger UI from our own static files."""

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_safe

# Swagger UI sets styles inline and draws its icons from data: URLs; scripts come from our files only.
CONSOLE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


@require_safe
def show_console(request: HttpRequest) -> HttpResponse:
    """Under another name of this host the sign-in would be another origin: the public address it is, then."""
    public = urlsplit(settings.PUBLIC_URL)
    if request.get_host() != public.netloc:
        return HttpResponseRedirect(f"{settings.PUBLIC_URL}{request.path}")
    return _page(request, "api/console.html")


@require_safe
def finish_sign_in(request: HttpRequest) -> HttpResponse:
    """Where the console's own sign-in returns to: hands the code to the window that asked."""
    return _page(request, "api/console_redirect.html")


def _page(request: HttpRequest, template: str) -> HttpResponse:
    response = render(request, template)
    response["Content-Security-Policy"] = CONSOLE_POLICY
    return response
