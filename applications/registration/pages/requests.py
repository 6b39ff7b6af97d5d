"""The log of an application's calls, and how fast they are answered."""

import json
from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.pages.guards import signed_in_page, signed_in_user
from applications.registration.models import LoggedRequest
from applications.registration.pages.frame import page_context, require_readable
from applications.registration.selectors.request_log import (
    A_PAGE,
    CLASSES,
    MAX_MEASURED,
    CallFilter,
    OperationFigures,
    find_logged_request,
    is_status,
    list_operations,
    logged_requests,
    parse_place,
    place_text,
)
from fulfillment.core.reference.operations import Operation, operations

BAR = 110


class RequestFilterForm(forms.Form):
    status = forms.CharField(
        label=gettext_lazy("Status"),
        required=False,
        max_length=3,
        widget=forms.TextInput(attrs={"list": "statuses", "placeholder": "4xx, or 404"}),
    )
    operation = forms.ChoiceField(label=gettext_lazy("Operation"), required=False)
    code = forms.CharField(
        required=False,
        max_length=80,
        label=gettext_lazy("Error code"),
        widget=forms.TextInput(attrs={"placeholder": "values_invalid"}),
    )
    request = forms.UUIDField(required=False, label=gettext_lazy("Request ID"))
    since = forms.DateTimeField(
        required=False,
        label=gettext_lazy("From"),
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
    )
    until = forms.DateTimeField(
        label=gettext_lazy("Until"),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [
            (operation.id, f"{operation.method} {operation.title}") for operation in operations().values()
        ]
        field: Any = self.fields["operation"]
        field.choices = [("", _("All operations")), *choices]

    def clean_status(self) -> str:
        value = str(self.cleaned_data["status"]).lower()
        if value and not is_status(value):
            raise forms.ValidationError(_("A status such as 404, or 2xx, 3xx, 4xx or 5xx."))
        return value


@signed_in_page
def list_requests(request: HttpRequest, application_id: str) -> HttpResponse:
    application = require_readable(request, application_id)
    form = RequestFilterForm(request.GET)
    rows = logged_requests(application, _read_filter(request, form)) if form.is_valid() else []
    page = rows[:A_PAGE]
    context = page_context(
        request,
        application,
        "requests",
        form=form,
        rows=[_make_row(row, request) for row in page],
        older=place_text(page[-1]) if len(rows) > A_PAGE else "",
        is_later_page="before" in request.GET,
        filtered=any(request.GET.get(name) for name in form.fields),
        classes=CLASSES,
        days=settings.REQUEST_LOG_DAYS,
    )
    return render(request, "applications/requests.html", context)


@signed_in_page
def show_performance(request: HttpRequest, application_id: str) -> HttpResponse:
    application = require_readable(request, application_id)
    figures = list_operations(application)
    slowest = max((figure.slow for figure in figures), default=1) or 1
    rows = [_make_bar(figure, slowest) for figure in figures]
    context = page_context(request, application, "requests", rows=rows, most=MAX_MEASURED, bar=BAR)
    return render(request, "applications/performance.html", context)


@signed_in_page
def show_request(request: HttpRequest, application_id: str, request_id: str) -> HttpResponse:
    application = require_readable(request, application_id)
    logged = find_logged_request(application, request_id)
    problem = json.dumps(logged.problem, indent=2, ensure_ascii=False) if logged.problem else ""
    context = page_context(request, application, "requests", problem=problem, **_make_row(logged, request))
    context["sent"] = logged.headers.get("request", {}).items()
    context["answered"] = logged.headers.get("response", {}).items()
    return render(request, "applications/request.html", context)


def _read_filter(request: HttpRequest, form: RequestFilterForm) -> CallFilter:
    cleaned = form.cleaned_data
    operation = operations().get(cleaned["operation"])
    return CallFilter(
        status=cleaned["status"],
        method=operation.method if operation else "",
        path=operation.path if operation else "",
        code=cleaned["code"],
        since=cleaned["since"],
        until=cleaned["until"],
        request_id=cleaned["request"],
        before=parse_place(request.GET.get("before", "")),
    )


def _make_row(row: LoggedRequest, request: HttpRequest) -> dict[str, Any]:
    return {
        "row": row,
        "operation": _find_operation(row.method, row.path),
        "kind": "good" if row.status < 400 else "bad" if row.status >= 500 else "warning",
        "request_id": row.request_id.hex,
        "caller": _name_caller(row.user_id, signed_in_user(request).pk),
    }


def _name_caller(user_id: UUID | None, own: UUID) -> str:
    """The caller's label: names of users are not shown to applications without their consent."""
    if user_id is None:
        return _("The application")
    return _("You") if user_id == own else _("User %(hex)s") % {"hex": user_id.hex[-8:]}


def _find_operation(method: str, path: str) -> Operation | None:
    return next(
        (
            operation
            for operation in operations().values()
            if (operation.method, operation.path) == (method, path)
        ),
        None,
    )


def _make_bar(figures: OperationFigures, slowest: float) -> dict[str, Any]:
    return {
        "figures": figures,
        "operation": _find_operation(figures.method, figures.path),
        "median_width": round(max(2.0, BAR * figures.median / slowest), 1),
        "slow_width": round(max(2.0, BAR * figures.slow / slowest), 1),
        "error_width": round(BAR * figures.error_share / 100, 1),
    }
