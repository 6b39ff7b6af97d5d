"""Observes every request: route, caller, status and duration."""

import logging
import threading
import time
from collections.abc import Callable
from functools import cache
from multiprocessing.util import Finalize
from typing import Any

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse

from fulfillment.core.observability.instruments import measure_request
from fulfillment.core.observability.logs import current_trace, mask_text, start_trace
from fulfillment.core.plugins import offered_values

logger = logging.getLogger("fulfillment.site.instrumentation")


class Periodic:
    """Calls `work` in a thread of its own, from the first `start` on, and once more when the process ends.

    An error is logged and the next round comes as usual. Between rounds it holds no database connection.
    """

    def __init__(self, work: Callable[[], object], *, seconds: float) -> None:
        self.work, self.seconds = work, seconds
        self._started = False
        self._lock = threading.Lock()

    def start(self) -> None:
        """Starts the thread once; call it at the first request, because the server may fork before."""
        if self._started or not self.seconds:
            return
        with self._lock:
            if not self._started:
                self._started = True
                threading.Thread(target=self._run, name=f"periodic {self.work.__name__}", daemon=True).start()
                # Web workers are children of multiprocessing, which do not run `atexit`.
                Finalize(None, self._run_once, exitpriority=10)

    def _run(self) -> None:
        wake = threading.Event()
        while not wake.wait(self.seconds):
            self._run_once()

    def _run_once(self) -> None:
        try:
            self.work()
        except Exception as error:  # noqa: BLE001 - a round that fails must not be the last one
            logger.warning("%s: %s", self.work.__name__, error)
        finally:
            connection.close()


access_log = logging.getLogger("fulfillment.core.api.access")


class RequestInstrumentation:
    """Counts responses. Must neither fail nor delay a request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.usage = [
            Periodic(flush, seconds=settings.USAGE_FLUSH_SECONDS)
            for flush in offered_values("metrics", "flush_usage")
        ]

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        trace = start_trace(request)
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
        for count_request in _metric_hooks("count_request"):
            count_request(caller, response.status_code)
        for record_request in _metric_hooks("record_request"):
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
            "path": mask_text(request.path_info),
            "status": response.status_code,
            "milliseconds": round(seconds * 1000, 1),
        }
        # Without the query, which may contain personal data and authorization codes.
        template = "%(method)s %(path)s %(status)s %(milliseconds)s ms"
        access_log.info(template, fields, extra={"fields": fields})


@cache
def _metric_hooks(name: str) -> list[Any]:
    return offered_values("metrics", name)
