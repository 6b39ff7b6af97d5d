"""Repeats a read that lost its database connection once, on a new connection."""

from collections.abc import Callable

from django.db import DEFAULT_DB_ALIAS, connections
from django.http import HttpRequest, HttpResponse

SAFE = frozenset({"GET", "HEAD"})


class RepeatedReads:
    """Repeats a GET or HEAD whose database connection was closed during the request.

    Writes are never repeated, because they may have taken effect. Requests that begin without a connection are not
    repeated either: the database is unavailable, and a second try would only delay the answer.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        connection = connections[DEFAULT_DB_ALIAS]
        if request.method not in SAFE or connection.connection is None or request.META.get("CONTENT_LENGTH"):
            return self.get_response(request)
        known = dict(vars(request))
        response = self.get_response(request)
        if not getattr(response, "lost_connection", False):
            return response
        connection.close()
        # The second try must not see data of the first one, such as session and caller.
        vars(request).clear()
        vars(request).update(known)
        return self.get_response(request)
