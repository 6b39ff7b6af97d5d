"""Confirmation pages of destructive actions, which work without JavaScript."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.functional import Promise

from fulfillment.core.admin.names import lazy_text

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
    listed = list(records[: SHOWN + 1])
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.model._meta,
        "title": question,
        "button": button,
        "sent": _submitted_values(request, records),
        "records": listed[:SHOWN],
        "has_more": len(listed) > SHOWN,
        "back": back or request.get_full_path(),
        "details": details,
    }
    return TemplateResponse(request, "admin/confirm.html", context)


def _submitted_values(request: HttpRequest, records: Any) -> list[tuple[str, Any]]:
    """The names and values of the submitted form. For all records of a list, the keys of those that are there now: a
    record that comes later is in the list, but not on the page."""
    is_whole_list = isinstance(records, QuerySet) and request.POST.get("select_across") == "1"
    left_out = {"csrfmiddlewaretoken", *(("select_across", ACTION_CHECKBOX_NAME) if is_whole_list else ())}
    fields = [
        (name, value) for name, values in request.POST.lists() for value in values if name not in left_out
    ]
    keys = records.values_list("pk", flat=True) if is_whole_list else ()
    return [*fields, *((ACTION_CHECKBOX_NAME, key) for key in keys)]


def requires_confirmation(
    question: str | Promise, button: str | Promise
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator for list actions that shows the selection and requires confirmation first."""
    question, button = lazy_text(question), lazy_text(button)

    def decorate(action: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(action)
        def wrapper(model_admin: Any, request: HttpRequest, queryset: QuerySet) -> Any:
            page = confirmation_page(model_admin, request, question=question, button=button, records=queryset)
            return page or action(model_admin, request, queryset)

        return wrapper

    return decorate
