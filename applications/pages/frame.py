from typing import Any

from django.http import HttpRequest

from accounts.callers import Caller
from applications.models import Application
from applications.selectors.applications import application_for, application_to_write, may_write


def frame(request: HttpRequest, application: Application, section: str, **more: Any) -> dict[str, Any]:
    """What every page of an application shows around its own part."""
    return {
        "application": application,
        "may_write": may_write(Caller.on_pages(request.user), application),
        "section": section,
        "part": "applications",
        **more,
    }


def readable(request: HttpRequest, application_id: str) -> Application:
    return application_for(Caller.on_pages(request.user), application_id)


def writable(request: HttpRequest, application_id: str) -> Application:
    return application_to_write(Caller.on_pages(request.user), application_id)
