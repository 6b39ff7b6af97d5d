"""OpenTelemetry's middleware, without the requests it cannot take; imported only where traces are sent."""

from collections.abc import Callable
from typing import Any

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from opentelemetry.instrumentation.django.middleware.otel_middleware import _DjangoMiddleware

from fulfillment.site.middleware import PROBES


class TracedRequests(_DjangoMiddleware):
    """Skips probes and requests with a foreign Host.

    OpenTelemetry reads each request's full URL first, which raises for a foreign Host: probes by IP address would be
    refused, and refusals would lack our headers.
    """

    def __call__(self, request: Any) -> HttpResponse:
        request.is_traced = _can_be_traced(request)
        if not request.is_traced:
            return self.get_response(request)
        return super().__call__(request)

    def process_view(self, request: Any, view: Callable[..., Any], *arguments: Any) -> None:
        if request.is_traced:
            super().process_view(request, view, *arguments)

    def process_exception(self, request: Any, exception: Exception) -> None:
        if request.is_traced:
            super().process_exception(request, exception)


def _can_be_traced(request: HttpRequest) -> bool:
    if request.path_info in PROBES:
        return False
    try:
        request.get_host()
    except DisallowedHost:
        return False
    return True
