"""The context, access checks and confirmations that the pages of one application share."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.callers import Caller
from applications.registration.models import Application
from applications.registration.selectors.applications import application_for, application_to_write, may_write
from fulfillment.core.errors import Forbidden


def page_context(
    request: HttpRequest, application: Application, section: str, **values: Any
) -> dict[str, Any]:
    """The template context shared by all pages of an application."""
    return {
        "application": application,
        "may_write": may_write(Caller.on_pages(request.user), application),
        "section": section,
        "part": "applications",
        **values,
    }


def render_confirmation(
    request: HttpRequest, application: Application, section: str, *, back: str = "", **texts: str
) -> HttpResponse:
    """The page that asks for a confirmation: `heading`, `warning` and the `verb` of the button. Its link `back` leads
    to the section by default."""
    back = back or reverse(f"portal:application-{section}", args=[application.pk])
    return render(
        request, "applications/confirm.html", page_context(request, application, section, back=back, **texts)
    )


def require_readable(request: HttpRequest, application_id: str) -> Application:
    return _or_how_to_request(application_for, request, application_id)


def require_writable(request: HttpRequest, application_id: str) -> Application:
    return _or_how_to_request(application_to_write, request, application_id)


def require_access(request: HttpRequest, application_id: str) -> Application:
    """The application for a page that more users may read than change: POST requires the right to change it."""
    return (require_writable if request.method == "POST" else require_readable)(request, application_id)


def _or_how_to_request(
    find: Callable[[Caller, str], Application], request: HttpRequest, application_id: str
) -> Application:
    """Replaces the API's advice for users without a relationship by that of pages."""
    try:
        return find(Caller.on_pages(request.user), application_id)
    except Forbidden as error:
        if error.code != "association_required":
            raise
        raise Forbidden(
            _("You have no relationship with this application. Request to join it under Applications.")
        ) from error
