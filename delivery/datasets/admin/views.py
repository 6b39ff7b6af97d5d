"""The base of the admins of data sets and imports."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse

from fulfillment.core.admin.read_only import ReadOnlyAdmin
from fulfillment.core.page_messages import errors_as_messages


class DeliveryAdmin(ReadOnlyAdmin):
    """Services write the records; own pages are added to Django's."""

    def page_path(
        self, route: str, view: Callable[..., HttpResponseBase], name: str, permission: str = "view"
    ) -> URLPattern:
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            options = self.model._meta
            if not request.user.has_perm(f"{options.app_label}.{permission}_{options.model_name}"):
                raise PermissionDenied
            return view(request, *args, **kwargs)

        return path(
            route,
            self.admin_site.admin_view(guarded),
            name=f"delivery_{self.model._meta.model_name}_{name}",
        )


def change_url(record: models.Model) -> str:
    return reverse(f"admin:delivery_{record._meta.model_name}_change", args=[record.pk])


def run_service(request: HttpRequest, service: Callable[[], str], then: str) -> HttpResponse:
    """Calls a service, shows its message or error, and redirects."""
    with errors_as_messages(request):
        messages.success(request, service())
    return redirect(then)
