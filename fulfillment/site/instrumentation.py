"""The one place that sees of every request: its route, who called, the status answered and the time it took."""

import logging
import time
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from accounts.callers import Caller
from applications.registration.services.usage import count_call, flush_usage
from fulfillment.core.observability.instruments import measure_request
from fulfillment.core.observability.logs import current_trace, trace_of
from fulfillment.core.observability.periodic import Periodic

access_log = logging.getLogger("fulfillment.core.api.access")


class RequestInstrumentation:
    """Counts what was answered; nothing here may fail a request or wait for anything."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.usage = Periodic(flush_usage, seconds=settings.USAGE_FLUSH_SECONDS)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        trace = trace_of(request)
        token = current_trace.set(trace)
        try:
            response = self.get_response(request)
            observe(request, response, time.perf_counter() - started)
        finally:
            current_trace.reset(token)
        response.headers["traceparent"] = trace.traceparent
        self.usage.start()
        return response


def observe(request: HttpRequest, response: HttpResponse, seconds: float) -> None:
    caller: Caller | None = getattr(request, "auth", None)
    if caller is not None and caller.application_id is not None:
        count_call(application_id=caller.application_id, status=response.status_code)
    if settings.METRICS_OPEN:
        match = request.resolver_match
        measure_request(
            route=match.route if match else "none",
            caller=kind_of(caller),
            status=response.status_code,
            seconds=seconds,
        )
    if settings.ACCESS_LOG:
        fields = {
            "method": request.method,
            "path": request.path_info,
            "status": response.status_code,
            "milliseconds": round(seconds * 1000, 1),
        }
        # The query stays out: it may hold what belongs to people, and codes of the sign-in for an application.
        said = "%(method)s %(path)s %(status)s %(milliseconds)s ms"
        access_log.info(said, fields, extra={"fields": fields})


def kind_of(caller: Caller | None) -> str:
    if caller is None:
        return "none"
    if caller.is_application:
        return "application"
    return "operator" if caller.is_operator_user else "user"
