"""The view set of the API: DRF's dispatch, with a short path for plain JSON requests."""

from functools import cache, cached_property
from typing import Any

from django.http import HttpRequest, QueryDict
from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from fulfillment.core.api.parameters import check_parameter_names
from fulfillment.core.api.responses import DEFAULT_ACCEPTS, JSON

# A body without a Content-Type is read as JSON: the contract makes that header optional.
SENT = frozenset({"", JSON})
SAFE = frozenset({"GET", "HEAD"})

_headers: dict[tuple[object, ...], dict[str, str]] = {}


class FastPathRequest:
    """The parts of DRF's Request that operations use; everything else is Django's request."""

    nothing_acceptable = False
    auth: Any = None
    user: Any = None
    successful_authenticator: Any = None

    def __init__(self, request: HttpRequest, view: Any) -> None:
        self._request = request
        self.method = request.method
        self.META = request.META
        self.authenticators = view.get_authenticators()
        self.parser_context = {"view": view}
        self.accepted_media_type = JSON
        self._view = view

    def __getattr__(self, name: str) -> Any:
        return getattr(self._request, name)

    @property
    def query_params(self) -> Any:
        return self._request.GET if self.META.get("QUERY_STRING") else _no_query()

    @cached_property
    def accepted_renderer(self) -> Any:
        return self._view.renderer_classes[0]()

    @cached_property
    def data(self) -> Any:
        return self._view.parser_classes[0]().parse(self, JSON, {"request": self, **self.parser_context})

    def authenticate(self) -> None:
        for authenticator in self.authenticators:
            found = authenticator.authenticate(self)
            if found is not None:
                self.user, self.auth = found
                self.successful_authenticator = authenticator
                return


@cache
def _no_query() -> QueryDict:
    """Cannot be changed."""
    return QueryDict()


# Handles requests that accept JSON and send JSON or nothing; DRF handles the rest, and every difference between
# the two would be a mistake: the same classes authenticate, permit, throttle, parse and render. (A docstring would
# become the description of every operation.)
class ApiViewSet(ViewSet):
    # Set by views that report unknown parameters together with other faults of the query.
    reads_own_query = False

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self._check_query(request)

    def _check_query(self, request: Any) -> None:
        if request.META.get("QUERY_STRING") and not self.reads_own_query:
            check_parameter_names(self, request.query_params)

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not self._uses_fast_path(request):
            return super().dispatch(request, *args, **kwargs)
        self.action = self.action_map[str(request.method).lower()]
        plain = self.request = FastPathRequest(request, self)
        self.headers = self._answer_headers()
        try:
            plain.authenticate()
            self.check_permissions(plain)
            self.check_throttles(plain)
            self._check_query(plain)
            response = getattr(self, self.action)(plain, *args, **kwargs)
        except Exception as error:  # noqa: BLE001 - as DRF does
            response = self.handle_exception(error)
        response = self.finalize_response(plain, response, *args, **kwargs)
        if not isinstance(response, Response):
            # View and request refer to each other; without this only the garbage collector would free them.
            self.__dict__.clear()
        return response

    def _uses_fast_path(self, request: HttpRequest) -> bool:
        if str(request.method).lower() not in self.action_map:
            return False
        if request.META.get("HTTP_ACCEPT", "").strip() not in DEFAULT_ACCEPTS:
            return False
        return request.method in SAFE or (
            request.META.get("CONTENT_TYPE", "").partition(";")[0].strip().lower() in SENT
            and self.parser_classes[0].media_type == JSON
        )

    def _answer_headers(self) -> dict[str, str]:
        """The `Allow` and `Vary` headers, computed once for each URL."""
        key = (type(self), *self.action_map)
        if key not in _headers:
            _headers[key] = dict(self.default_response_headers)
        return dict(_headers[key])
