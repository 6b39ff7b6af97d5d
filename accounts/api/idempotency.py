"""Idempotency-Key support for operations, as a decorator."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.db import transaction
from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.services.idempotency import (
    KeyedRequest,
    StoredResponse,
    exclusive_request,
    execute_once,
    stored_response,
)
from fulfillment.core.errors import Invalid

HEADER = "Idempotency-Key"
MAX_KEY_LENGTH = 255
STORED_HEADERS = ("Content-Type", "ETag", "Location")
_QUOTED = re.compile(r'"((?:[^"\\]|\\["\\])*)"\Z')
_PRINTABLE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?\Z")

View = Callable[..., Any]


def json_content(viewset: Any, request: Request) -> str:
    """The canonical text of a JSON body: equal members in any order give equal texts."""
    return json.dumps(request.data, sort_keys=True)


def idempotent(
    view: View | None = None,
    *,
    prepare: View | None = None,
    discard: Callable[[Any, Any], None] | None = None,
    access: View | None = None,
    content: Callable[[Any, Request], str] = json_content,
) -> Any:
    """Declares that an action creates something: a repeated request with the same key gets the first response.

    The action runs in the transaction that stores its response. Work that takes long goes into `prepare`, which runs
    before that transaction: it gets the action's arguments, and the action gets its result instead. `discard` gets
    that result if the action failed or was not reached. `access` gets the action's arguments before a stored response
    is repeated, and raises for a caller without access. `content` returns the text by which requests are compared;
    for uploads this is a digest.
    """
    if view is None:
        return lambda chosen: idempotent(
            chosen, prepare=prepare, discard=discard, access=access, content=content
        )
    steps = _Steps(view, prepare, discard, access, content)

    @wraps(view)
    def wrapper(self: Any, request: Request, *args: Any, **kwargs: Any) -> Any:
        key = _read_key(request)
        if key is None:
            with steps.ready(self, request, args, kwargs) as act:
                return act()
        return steps.respond(key, self, request, args, kwargs)

    wrapper.is_idempotent = True  # type: ignore[attr-defined]  # read by the API description
    return wrapper


@dataclass(frozen=True, slots=True)
class _Steps:
    """An action with its other functions, as `idempotent` describes them."""

    view: View
    prepare: View | None
    discard: Callable[[Any, Any], None] | None
    access: View | None
    content: Callable[[Any, Request], str]

    def respond(self, key: str, viewset: Any, request: Request, args: Any, kwargs: Any) -> HttpResponse:
        """The response stored under the key, or that of the action."""
        address = f"{request.method} {request.get_full_path()}"
        keyed = KeyedRequest(request.auth, key, f"{address}\n{self.content(viewset, request)}")
        stored, replayed = stored_response(request=keyed), True
        if stored is None:
            stored, replayed = self.act_once(keyed, viewset, request, args, kwargs)
        if replayed and self.access is not None:
            self.access(viewset, request, *args, **kwargs)
        return _from_stored(stored, replayed=replayed)

    def act_once(
        self, keyed: KeyedRequest, viewset: Any, request: Request, args: Any, kwargs: Any
    ) -> tuple[StoredResponse, bool]:
        with ExitStack() as stack:
            if self.prepare is not None:
                stack.enter_context(exclusive_request(request=keyed))
                # The request under way a moment ago may be complete now.
                if stored := stored_response(request=keyed):
                    return stored, True
            act = stack.enter_context(self.ready(viewset, request, args, kwargs))
            return execute_once(request=keyed, act=lambda: _to_store(request, act()))

    @contextmanager
    def ready(self, viewset: Any, request: Request, args: Any, kwargs: Any) -> Iterator[Callable[[], Any]]:
        """Yields the prepared action; discards the preparation unless the action completed."""
        if self.prepare is None:
            yield transaction.atomic(lambda: self.view(viewset, request, *args, **kwargs))
            return
        prepared = self.prepare(viewset, request, *args, **kwargs)
        responses: list[Any] = []

        def act() -> Any:
            responses.append(self.view(viewset, request, prepared))
            return responses[0]

        try:
            yield transaction.atomic(act)
        finally:
            # After the action only the commit can fail, and then its outcome is unknown.
            if not responses and self.discard is not None:
                self.discard(viewset, prepared)


def _read_key(request: Request) -> str | None:
    header = request.headers.get(HEADER)
    if header is None:
        return None
    quoted = _QUOTED.match(header)
    key = re.sub(r"\\(.)", r"\1", quoted[1]) if quoted else header
    half_quoted = header.startswith('"') and not quoted
    if half_quoted or not _PRINTABLE.match(key) or len(key) > MAX_KEY_LENGTH:
        message = f"{HEADER} must be 1 to {MAX_KEY_LENGTH} printable ASCII characters."
        raise Invalid(message, code="idempotency_key_invalid")
    return key


def _to_store(request: Request, response: Response | HttpResponse) -> StoredResponse:
    if isinstance(response, Response):
        body = request.accepted_renderer.render(response.data)
        content_type = request.accepted_renderer.media_type
    else:
        body, content_type = response.content, response["Content-Type"]
    headers = {name: response[name] for name in STORED_HEADERS if name in response}
    return StoredResponse(response.status_code, {**headers, "Content-Type": content_type}, body)


def _from_stored(stored: StoredResponse, *, replayed: bool) -> HttpResponse:
    response = HttpResponse(stored.body, status=stored.status, headers=stored.headers)
    response["Cache-Control"] = "no-store"
    if replayed:
        response["Idempotent-Replayed"] = "true"
    return response
