"""Confirmation pages of destructive actions, which work without JavaScript."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.functional import Promise

from fulfillment.core.admin.names import named

SHOWN = 50


def confirmation_page(
    model_admin: Any,
    request: HttpRequest,
    *,
    question: str | Promise,
    button: str | Promise,
    records: Any = (),
    back: str = "",
    details: str = "",
) -> TemplateResponse | None:
    """The confirmation page, which repeats the submitted form; None once it is confirmed.

    `details` is a template that is shown instead of the records' names.
    """
    if request.POST.get("confirmed"):
        return None
    sent = [
        (name, value)
        for name, values in request.POST.lists()
        for value in values
        if name != "csrfmiddlewaretoken"
    ]
    shown = list(records[: SHOWN + 1])
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.model._meta,
        "title": question,
        "button": button,
        "sent": sent,
        "records": shown[:SHOWN],
        "has_more": len(shown) > SHOWN,
        "back": back or request.get_full_path(),
        "details": details,
    }
    return TemplateResponse(request, "admin/confirm.html", context)


def requires_confirmation(
    question: str | Promise, button: str | Promise
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator for list actions that shows the selection and requires confirmation first."""
    question, button = named(question), named(button)

    def decorate(action: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(action)
        def confirmed(model_admin: Any, request: HttpRequest, chosen: QuerySet) -> Any:
            page = confirmation_page(model_admin, request, question=question, button=button, records=chosen)
            return page or action(model_admin, request, chosen)

        return confirmed

    return decorate
