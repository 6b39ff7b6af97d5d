"""The base of every view set of the API."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from typing import Any, TypeVar

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.viewsets import ViewSet

from fulfillment.core.api.parameters import check_parameter_names
from fulfillment.core.concurrency_limits import ConcurrencyLimit
from fulfillment.core.processor_share import processor_share

View = TypeVar("View", bound=Callable[..., Any])


def in_slot_of(limit: ConcurrencyLimit) -> Callable[[View], View]:
    """Holds a slot for an action, from before its body is read, its transaction and the locks it waits for."""

    def decorate(view: View) -> View:
        @wraps(view)
        def wrapper(self: Any, request: Request, *args: Any, **kwargs: Any) -> Any:
            with limit.slot(request.auth.key):
                return view(self, request, *args, **kwargs)

        return wrapper  # type: ignore[return-value]

    return decorate


# A docstring would become the description of every operation.
class ApiViewSet(ViewSet):
    # The heading in the API reference: the name of a `Tag` that an app declares.
    tag = "Service"
    # Set by views that report unknown parameters together with other faults of the query.
    reads_own_query = False
    request: Any
    response: Any

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            with ExitStack() as self._share:
                return super().dispatch(request, *args, **kwargs)
        finally:
            # View and request name themselves: a body of 100 MB would stay until garbage is collected.
            self.request.parser_context.clear()
            self.request = self.response = None

    def get_renderer_context(self) -> dict[str, Any]:
        """Nothing, for no renderer reads it: it would name the request, and the response itself."""
        return {}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.auth is not None:
            self._share.enter_context(processor_share.shared(request.auth.key))
        if request.META.get("QUERY_STRING") and not self.reads_own_query:
            check_parameter_names(self, request.query_params)
