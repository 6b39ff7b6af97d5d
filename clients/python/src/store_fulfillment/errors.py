"""The library's exceptions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx


class FulfillmentError(Exception):
    """The base of all exceptions of this library."""


class ConnectionFailed(FulfillmentError):
    """No response, even after all retries. The request may have taken effect."""


class TimedOut(ConnectionFailed):
    """The answer took longer than the timeout."""


class OAuthError(FulfillmentError):
    """The token endpoint or the user refused: `code` is that of RFC 6749."""

    def __init__(self, code: str, description: str = "") -> None:
        self.code = code
        self.description = description
        super().__init__(f"{code}: {description}" if description else code)


@dataclass(frozen=True)
class Fault:
    """One mistake in what was sent: `pointer` is a JSON pointer into it."""

    pointer: str
    code: str
    message: str


class ApiError(FulfillmentError):
    """An answer with an error status; `code` is stable, `errors` point into what was sent."""

    def __init__(self, status: int, problem: Mapping[str, Any], headers: httpx.Headers) -> None:
        self.status = status
        self.problem = problem
        self.headers = headers
        self.code = str(problem.get("Code", ""))
        self.title = str(problem.get("title", ""))
        self.detail = str(problem.get("detail", ""))
        self.errors = tuple(
            Fault(str(error.get("Pointer", "")), str(error.get("Code", "")), str(error.get("Message", "")))
            for error in _listed(problem.get("Errors"))
        )
        count = problem.get("ErrorCount")
        self.error_count = count if isinstance(count, int) and count else len(self.errors)
        super().__init__(self._text())

    def _text(self) -> str:
        lines = [f"{self.status} {self.code}: {self.detail or self.title}".replace(" : ", ": ")]
        lines += [f"  {error.pointer or '(all of it)'}: {_plain(error)}" for error in self.errors]
        if self.error_count > len(self.errors):
            lines.append(f"  and {self.error_count - len(self.errors)} more")
        return "\n".join(lines)


def _plain(fault: Fault) -> str:
    """The message without its place, which stands before it."""
    path = fault.pointer.removeprefix("/")
    return fault.message.removeprefix(f"{path}: ").removeprefix(f"{path.rpartition('/')[2]}: ")


def _listed(errors: object) -> list[Mapping[str, Any]]:
    """A proxy on the way may answer with a body of its own."""
    return [error for error in errors if isinstance(error, Mapping)] if isinstance(errors, list) else []


class InvalidRequest(ApiError):
    """400, 413, 415, 422: what was sent breaks a rule."""


class Unauthorized(ApiError):
    """401: the subscription key or the token is missing or not valid."""


class Forbidden(ApiError):
    """403: this caller may not do that."""


class NotFound(ApiError):
    """404"""


class Conflict(ApiError):
    """409: the state does not allow it."""


class PreconditionFailed(ApiError):
    """412: it has changed since it was read."""


class RateLimited(ApiError):
    """429, after all tries."""


class ServerError(ApiError):
    """500 and above, after all tries."""


KINDS: dict[int, type[ApiError]] = {
    400: InvalidRequest,
    413: InvalidRequest,
    415: InvalidRequest,
    422: InvalidRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: PreconditionFailed,
    429: RateLimited,
}


def json_of(response: httpx.Response) -> Any:
    """Raises ConnectionFailed for a body that is not JSON, such as a proxy's page or a response that was cut off."""
    try:
        return response.json()
    except (ValueError, RecursionError) as error:
        raise ConnectionFailed(f"The response with status {response.status_code} is not JSON.") from error


def object_of(response: httpx.Response) -> dict[str, Any]:
    """The JSON object of a response; empty for anything else."""
    try:
        text = json_of(response)
    except ConnectionFailed:
        return {}
    return text if isinstance(text, dict) else {}


def error_of(response: httpx.Response) -> ApiError:
    """The exception for an error response."""
    problem = object_of(response)
    if not problem:
        problem = {"title": response.reason_phrase, "detail": response.text[:500]}
    kind = ServerError if response.status_code >= 500 else KINDS.get(response.status_code, ApiError)
    return kind(response.status_code, problem, response.headers)
