"""Middleware of pages: requests of programs pass it by."""

from typing import Any

from django.http import HttpRequest

from fulfillment.core.http.addresses import is_for_programs


def for_pages(middleware: type[Any]) -> type[Any]:
    """The middleware, which requests of programs pass by."""

    class ForPages(middleware):
        def __call__(self, request: HttpRequest) -> Any:
            return (
                self.get_response(request)
                if is_for_programs(request.path_info)
                else super().__call__(request)
            )

    if hasattr(middleware, "process_view"):

        def process_view(self: Any, request: HttpRequest, *view: Any) -> Any:
            return (
                None if is_for_programs(request.path_info) else middleware.process_view(self, request, *view)
            )

        ForPages.process_view = process_view
    ForPages.__name__ = ForPages.__qualname__ = middleware.__name__
    ForPages.__doc__ = middleware.__doc__
    return ForPages
