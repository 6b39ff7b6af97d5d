"""Observes every request: route, caller, status and duration."""

import logging
import time
from collections.abc import Callable
from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from fulfillment.core.observability.instruments import measure_request
from fulfillment.core.observability.logs import current_trace, masked, trace_of
from fulfillment.core.observability.periodic import Periodic
from fulfillment.core.plugins import offered

access_log = logging.getLogger("fulfillment.core.api.access")


class RequestInstrumentation:
    """Counts responses. Must neither fail nor delay a request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.usage = [
            Periodic(flush, seconds=settings.USAGE_FLUSH_SECONDS)
            for flush in offered("metrics", "flush_usage")
        ]

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        trace = trace_of(request)
        token = current_trace.set(trace)
        try:
            response = self.get_response(request)
            observe(request, response, time.perf_counter() - started, trace.trace_id)
        finally:
            current_trace.reset(token)
        response.headers["traceparent"] = trace.traceparent
        response.headers["X-Request-ID"] = trace.trace_id
        for usage in self.usage:
            usage.start()
        return response


def observe(request: HttpRequest, response: HttpResponse, seconds: float, request_id: str) -> None:
    caller = getattr(request, "auth", None)
    if caller is not None:
        for count_request in _offered("count_request"):
            count_request(caller, response.status_code)
        for record_request in _offered("record_request"):
            record_request(request, response, caller, seconds, request_id)
    if settings.METRICS_OPEN:
        match = request.resolver_match
        measure_request(
            route=match.route if match else "none",
            method=request.method or "",
            caller="none" if caller is None else caller.kind,
            status=response.status_code,
            seconds=seconds,
        )
    if settings.ACCESS_LOG:
        fields = {
            "method": request.method,
            "path": masked(request.path_info),
            "status": response.status_code,
            "milliseconds": round(seconds * 1000, 1),
        }
        # Without the query, which may contain personal data and authorization codes.
        template = "%(method)s %(path)s %(status)s %(milliseconds)s ms"
        access_log.info(template, fields, extra={"fields": fields})


@cache
def _offered(name: str) -> list[Any]:
    return offered("metrics", name)
