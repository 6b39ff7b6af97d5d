"""One error body for the whole API: application/problem+json (RFC 9457) with the contract's `_meta`."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

import orjson
from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from rest_framework import exceptions

from fulfillment.core.api.near_addresses import near_address
from fulfillment.core.db.connections import NOT_SERVED, READ_ONLY, log_database_error, sqlstate
from fulfillment.core.errors import (
    MAX_LISTED,
    UNLISTED,
    Busy,
    CountedFaults,
    DomainError,
    Fault,
    Invalid,
    TooManyRequests,
    Unavailable,
    find_shortage,
    invalid_from,
)
from fulfillment.core.http.addresses import REFERENCE
from fulfillment.core.observability.instruments import DISK_FULL, note_refusal
from fulfillment.core.observability.logs import current_trace
from fulfillment.core.text import Place, pointer_to

logger = logging.getLogger("fulfillment.api")

DATABASE_UNAVAILABLE = (OperationalError, InterfaceError)
# https://www.postgresql.org/docs/current/errcodes-appendix.html
LOCK_TIMEOUT, STATEMENT_TIMEOUT = "55P03", "57014"
TOO_LONG = "The database took too long. Try again in a few seconds."
DATABASE_MESSAGES = {
    DISK_FULL: "The database has no room left: nothing can be written until its operator makes some. Reads still work.",
    LOCK_TIMEOUT: TOO_LONG,
    STATEMENT_TIMEOUT: TOO_LONG,
    READ_ONLY: "The database accepts no writes at the moment. Try again in a few seconds.",
}
# RFC 9457: one title for each status; `Code` and `detail` distinguish problems.
TITLES = {
    400: "Invalid request",
    401: "Credentials missing or invalid",
    403: "Access denied",
    404: "Not found",
    405: "Method not allowed",
    406: "Not acceptable",
    409: "Conflict with the current state",
    412: "Changed in the meantime",
    413: "Body too large",
    415: "Unsupported media type",
    422: "Not the same request",
    429: "Too many requests",
    500: "Internal error",
    503: "Service unavailable",
}


class Unauthorized(DomainError):
    """A failed credential check; `challenges` are the values of WWW-Authenticate."""

    status = 401
    code = "unauthorized"

    def __init__(self, message: str, *, code: str, challenges: list[str], gateway_body: bool = False) -> None:
        super().__init__(message, code=code)
        self.challenges = challenges
        self.gateway_body = gateway_body


class InsufficientScope(DomainError):
    """The token lacks what the operation needs (RFC 6750, section 3.1)."""

    status = 403
    code = "insufficient_scope"

    def __init__(self, message: str, *, scopes: tuple[str, ...]) -> None:
        super().__init__(message)
        self.scopes = scopes


def bearer_challenge(parameters: str = "") -> str:
    metadata = f"{settings.PUBLIC_URL}/.well-known/oauth-protected-resource"
    return f'Bearer realm="{settings.API_URL}"{parameters}, resource_metadata="{metadata}"'


def status_title(status: int) -> str:
    return TITLES.get(status) or HTTPStatus(status).phrase


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    faults: Sequence[Fault] = (),
    fault_count: int = 0,
    members: Mapping[str, object] | None = None,
    headers: Mapping[str, str] | None = None,
) -> HttpResponse:
    """`fault_count` where there are more faults than are given."""
    listed = faults[:MAX_LISTED]
    body = {
        # The page with cause, example and remedy (RFC 9457, section 3.1.1).
        "type": f"{settings.PUBLIC_URL}{REFERENCE}/errors/{code}",
        "title": status_title(status),
        "status": status,
        "detail": detail,
        "Code": code,
        "Errors": [{"Pointer": f.pointer, "Code": f.code, "Message": f.message} for f in listed],
        "ErrorCount": max(fault_count, len(faults)),
        "_meta": {"Messages": [detail, *(f.message for f in listed if f.message != detail)]},
        **(members or {}),
    }
    if trace := current_trace.get():
        body["RequestID"] = trace.trace_id
    return HttpResponse(
        orjson.dumps(body),
        status=status,
        content_type="application/problem+json",
        headers={"Cache-Control": "no-store", **(headers or {})},
    )


def exception_response(exc: Exception, context: Mapping[str, Any] | None = None) -> HttpResponse:
    """DRF's exception handler: every exception becomes a problem, unknown ones a logged 500 without detail."""
    if isinstance(exc, DomainError):
        return domain_problem(exc)
    if is_database_unavailable(exc):
        return database_unavailable(exc)
    if shortage := find_shortage(exc):
        return domain_problem(shortage)
    if isinstance(exc, Http404 | exceptions.NotFound):
        return problem(404, "not_found", "There is nothing at this address.")
    if isinstance(exc, PermissionDenied):
        return forbidden()
    if isinstance(exc, RequestDataTooBig):
        return problem(413, "body_too_large", "The body is larger than this operation takes.")
    if isinstance(exc, SuspiciousOperation):
        return unreadable_request()
    if isinstance(exc, exceptions.ValidationError):
        return domain_problem(counted_faults(exc.detail).as_error())
    if isinstance(exc, exceptions.APIException):
        return _framework_problem(exc, context or {})
    logger.error("Unexpected error", exc_info=exc)
    return internal_error()


def unreadable_request() -> HttpResponse:
    return problem(400, "invalid_request", "The request could not be read.")


def forbidden() -> HttpResponse:
    return problem(403, "forbidden", "You may not do this.")


def internal_error() -> HttpResponse:
    return problem(500, "internal_error", "Something went wrong on our side. The error was recorded.")


def is_database_unavailable(error: BaseException) -> bool:
    return isinstance(error, DATABASE_UNAVAILABLE) or sqlstate(error) in NOT_SERVED


def database_unavailable(exc: BaseException) -> HttpResponse:
    response = problem(
        503,
        "service_unavailable",
        DATABASE_MESSAGES.get(
            sqlstate(exc), "The service cannot reach its database right now. Try again in a few seconds."
        ),
        headers={"Retry-After": str(Unavailable.retry_after)},
    )
    return logged_as_unavailable(exc, response)


def logged_as_unavailable(exc: BaseException, response: HttpResponse) -> HttpResponse:
    """Logs an outage in one line, instead of Django's stack trace."""
    note_refusal(exc)
    response.lost_connection = log_database_error(exc)  # type: ignore[attr-defined]  # for RetryInterruptedReads
    state = sqlstate(exc)
    if state == DISK_FULL:
        logger.error("The database has no room left.")
    else:
        logger.warning("Database not available: %s", f"{type(exc).__name__} {state}".strip())
    response._has_been_logged = True  # type: ignore[attr-defined]  # noqa: SLF001 - of django.utils.log
    return response


def counted_faults(detail: Any) -> CountedFaults:
    """Flattens DRF's nested error detail: one mistake for each message, the first with their JSON pointers."""
    faults = CountedFaults()
    for place, message in _messages_of(detail, None):
        code = getattr(message, "code", "invalid")
        if code == UNLISTED:
            faults.count += int(message)
        elif faults.count_one():
            pointer = pointer_to(place)
            where = pointer.lstrip("/") or "body"
            faults.listed.append(Fault(pointer, code, f"{where}: {message}"))
    return faults


def as_domain_error(error: exceptions.ValidationError) -> Invalid:
    return invalid_from(counted_faults(error.detail).listed)


def _messages_of(detail: Any, place: Place) -> Iterator[tuple[Place, Any]]:
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            yield from _messages_of(inner, place if name == "non_field_errors" else (place, name))
    elif isinstance(detail, list):
        for index, inner in enumerate(detail):
            nested = isinstance(inner, Mapping | list)
            yield from _messages_of(inner, (place, index) if nested else place)
    elif detail:
        yield place, detail


def domain_problem(exc: DomainError) -> HttpResponse:
    """The response to a request that a service refused."""
    headers: dict[str, str] = {}
    members: dict[str, object] = dict(exc.members)
    if exc.status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = ", ".join(getattr(exc, "challenges", None) or [bearer_challenge()])
        if getattr(exc, "gateway_body", False):
            members = {"statusCode": 401, "message": exc.message}
    if isinstance(exc, InsufficientScope):
        required = " ".join(exc.scopes)
        headers["WWW-Authenticate"] = f'Bearer error="insufficient_scope", scope="{required}"'
    if isinstance(exc, Busy | TooManyRequests | Unavailable):
        headers["Retry-After"] = str(exc.retry_after)
    return problem(
        exc.status,
        exc.code,
        exc.message,
        faults=exc.faults,
        fault_count=exc.fault_count,
        members=members,
        headers=headers,
    )


def _framework_problem(exc: exceptions.APIException, context: Mapping[str, Any]) -> HttpResponse:
    codes = {
        400: "invalid_body",
        405: "method_not_allowed",
        406: "not_acceptable",
        415: "unsupported_media_type",
    }
    headers = {}
    if allow := getattr(exc, "allow", None):
        headers["Allow"] = allow
    code, detail = codes.get(exc.status_code, exc.default_code), _describe_allowed(exc, context)
    # An unreadable body has one mistake, at the whole body.
    faults = [Fault("", code, detail)] if isinstance(exc, exceptions.ParseError) else []
    return problem(exc.status_code, code, detail, faults=faults, headers=headers)


def _describe_allowed(exc: exceptions.APIException, context: Mapping[str, Any]) -> str:
    """Says what is allowed in place of the method or the media type that was sent."""
    view, request = context.get("view"), context.get("request")
    if view is None or request is None:
        return str(exc.detail)
    if isinstance(exc, exceptions.MethodNotAllowed):
        return (
            f"{request.method} is not possible at this address. Allowed: {', '.join(view.allowed_methods)}."
        )
    if isinstance(exc, exceptions.UnsupportedMediaType):
        allowed = ", ".join(parser.media_type for parser in view.get_parsers())
        if not request.content_type:
            return f"The header Content-Type is missing. Allowed: {allowed}."
        return f"{str(request.content_type)[:100]!r} is not a Content-Type of this operation. Allowed: {allowed}."
    if isinstance(exc, exceptions.NotAcceptable):
        allowed = ", ".join(renderer.media_type for renderer in view.get_renderers())
        return f"This operation offers none of the media types in the Accept header. Allowed: {allowed}."
    return str(exc.detail)


def unknown_path(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
    address = near_address(request.path_info)
    suggestion = f" Did you mean {address}?" if address else ""
    return problem(
        404, "not_found", f"There is nothing at this address.{suggestion} The reference is at /api/v1/docs."
    )
