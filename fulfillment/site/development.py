"""Pages of development mode; in production they do not exist."""

from collections.abc import Callable, Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from functools import wraps
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

MAILS_SHOWN = 50
# Written by Django's backend for files after each mail.
END_OF_MAIL = b"\n" + b"-" * 79 + b"\n"


def of_development(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not settings.DEVELOPMENT:
            raise Http404
        return view(request, *args, **kwargs)

    return wrapper


@of_development
@never_cache
@require_safe
def show_mails(request: HttpRequest) -> HttpResponse:
    """The newest mails that the service wrote to files instead of sending them."""
    folder = Path(settings.EMAIL_FILE_PATH)
    files = sorted(folder.glob("*.log"), key=lambda file: file.stat().st_mtime, reverse=True)
    mails = [mail for file in files[:MAILS_SHOWN] for mail in _mails_in(file)]
    context = {"mails": mails[:MAILS_SHOWN], "folder": folder}
    return render(request, "portal/development_mail.html", context)


@of_development
@require_safe
def show_components(request: HttpRequest) -> HttpResponse:
    """The parts that pages of the console are made of, with their classes."""
    problem = {"target": "quantity", "where": "Quantity", "message": _("Enter a whole number, such as 500.")}
    shared = admin.site.each_context(request)
    context = {**shared, "title": _("Components"), "problems": [problem]}
    return TemplateResponse(request, "admin/components.html", context)


def _mails_in(file: Path) -> Iterator[dict[str, Any]]:
    """The newest first."""
    for content in reversed(file.read_bytes().split(END_OF_MAIL)):
        if content.strip():
            message = message_from_bytes(content, _class=EmailMessage, policy=policy.default)
            body = message.get_body(("plain",))
            yield {
                "subject": message["Subject"],
                "to": message["To"],
                "sent": message["Date"].datetime if message["Date"] else None,
                "text": body.get_content() if body else "",
            }
