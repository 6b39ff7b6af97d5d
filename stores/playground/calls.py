"""What the playground does as an application is in its log and counts, like the API call with the same effect."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.http import HttpRequest

from accounts.callers import Caller
from applications.registration.services.request_log import is_enabled, note_request
from applications.registration.services.usage import count_call
from fulfillment.core.api.errors import domain_problem
from fulfillment.core.errors import DomainError
from fulfillment.core.observability.logs import current_trace, trace_of
from fulfillment.core.reference.operations import operations, raw_operation
from stores.catalog.models import Store
from stores.catalog.services.usage import count_store_call


@contextmanager
def recorded_call(request: HttpRequest, caller: Caller, store: Store, operation_id: str) -> Iterator[None]:
    """Records the operation with the status that its API call would have."""
    started, problem = time.perf_counter(), None
    status = _success(operation_id)
    try:
        yield
    except DomainError as error:
        response = domain_problem(error)
        status, problem = response.status_code, response.content
        raise
    finally:
        if not caller.is_test:
            count_store_call(store_id=store.external_id, status=status)
        if caller.application_id is not None:
            count_call(application_id=caller.application_id, status=status, on_page=True)
            if is_enabled():
                note_request(
                    application_id=caller.application_id,
                    user_id=caller.user_id,
                    method=operations()[operation_id].method,
                    route=operations()[operation_id].path.removeprefix("/"),
                    status=status,
                    seconds=time.perf_counter() - started,
                    request_id=(current_trace.get() or trace_of(request)).trace_id,
                    sent=request.META,
                    answered={"Content-Type": "application/json"},
                    problem=problem,
                )


def _success(operation_id: str) -> int:
    responses = (raw_operation(operation_id) or {}).get("responses", {})
    return next((int(status) for status in responses if status.startswith("2")), 200)
