"""The one place that sees of every request: its route, who called, the status answered and the time it took."""

import time
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from accounts.callers import Caller
from applications.services.usage import count_call, flush_usage
from fulfillment.periodic import Periodic


class Observation:
    """Counts what was answered; nothing here may fail a request or wait for anything."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.usage = Periodic(flush_usage, seconds=settings.USAGE_FLUSH_SECONDS)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        response = self.get_response(request)
        observe(request, response, time.perf_counter() - started)
        self.usage.start()
        return response


def observe(request: HttpRequest, response: HttpResponse, seconds: float) -> None:
    caller: Caller | None = getattr(request, "auth", None)
    if caller is not None and caller.application_id is not None:
        count_call(application_id=caller.application_id, status=response.status_code)
