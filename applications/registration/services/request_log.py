"""The log of an application's calls, collected in memory and written in batches.

A killed process loses the calls since its last `flush_request_log`, about five seconds. A process notes at most 200
calls a second of one application and 1,000 in total; the rest is dropped and counted in the process's log.
Credentials, queries, bodies of successful calls and path values are never noted.
"""

import logging
import re
import threading
import time
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from django.conf import settings
from django.db import DataError, connection, transaction

from fulfillment.core.http.addresses import parameter_name
from fulfillment.core.observability.logs import mask_text
from fulfillment.core.text import MAX_INTEGER

logger = logging.getLogger("fulfillment.request_log")

# Limits between two flushes: of all calls, and of one application.
MAX_WAITING, MAX_PER_APPLICATION = 5_000, 1_000
# A statement of 1,000 rows takes a processor for so long that requests wait for it.
ROWS_AT_ONCE, PAUSE_SECONDS = 100, 0.02
# The limit of waiting problem bodies; further calls are noted without their body.
MAX_BYTES, MAX_PROBLEM_LENGTH = 4_000_000, 32_000
LISTED_ERRORS = 20
MAX_TEXT_LENGTH = 500
REQUEST_HEADERS = {
    "HTTP_USER_AGENT": "User-Agent",
    "HTTP_ACCEPT": "Accept",
    "CONTENT_TYPE": "Content-Type",
    "CONTENT_LENGTH": "Content-Length",
    "HTTP_IF_MATCH": "If-Match",
    "HTTP_IF_NONE_MATCH": "If-None-Match",
    "HTTP_IDEMPOTENCY_KEY": "Idempotency-Key",
}
RESPONSE_HEADERS = ("Content-Type", "Idempotent-Replayed")
REFUSAL_HEADERS = (*RESPONSE_HEADERS, "Retry-After", "RateLimit", "WWW-Authenticate")
PLACE = re.compile(r"<(?:\w+:)?(\w+)>")
# Errors of these operations can quote personal data.
PERSONAL = re.compile(
    r"(?i)recipient|templatedata|address|city|company|e-?mail|phone|name|password|note|message|metadata|description"
)
PERSONAL_PATHS = ("/user",)
OMITTED_TEXT = "Not kept: it can quote personal data."
# The joins drop rows of deleted applications and users.
ADD = """
INSERT INTO applications_loggedrequest (
    application_id, user_id, time, method, path, status, code, pointer, microseconds, request_id, headers, problem
)
SELECT application.id, person.id, to_timestamp(noted.time), noted.method, noted.path, noted.status, noted.code,
       noted.pointer, noted.microseconds, noted.request_id, noted.headers, noted.problem
FROM jsonb_to_recordset(%s::jsonb) AS noted (
    application_id uuid, user_id uuid, time float8, method text, path text, status smallint, code text, pointer text,
    microseconds integer, request_id uuid, headers jsonb, problem jsonb
)
JOIN applications_application application ON application.id = noted.application_id
LEFT JOIN accounts_user person ON person.id = noted.user_id AND person.is_active
WHERE noted.user_id IS NULL OR person.id IS NOT NULL
"""


class NotedCall(NamedTuple):
    application_id: UUID
    user_id: UUID | None
    began: float
    method: str
    route: str
    status: int
    microseconds: int
    request_id: str
    request_headers: tuple[Any, ...]
    response_headers: tuple[Any, ...]
    problem: bytes | None


_lock = threading.Lock()
_waiting: list[NotedCall] = []
# By the number of the ID: a UUID is hashed by Python, a number is not.
_of_application: Counter[int] = Counter()
_sizes = Counter[str]()


def note_request(
    *,
    application_id: UUID,
    user_id: UUID | None,
    method: str,
    route: str,
    status: int,
    seconds: float,
    request_id: str,
    request_meta: Mapping[str, Any],
    response_headers: Mapping[str, str],
    problem: bytes | None,
) -> None:
    """Remembers a call in memory."""
    entry = NotedCall(
        application_id,
        user_id,
        time.time() - seconds,
        method,
        route,
        status,
        int(seconds * 1_000_000),
        request_id,
        tuple(map(request_meta.get, REQUEST_HEADERS)),
        tuple(map(response_headers.get, REFUSAL_HEADERS if status >= 400 else RESPONSE_HEADERS)),
        problem,
    )
    _keep(entry)


def _keep(entry: NotedCall) -> None:
    number, problem = entry.application_id.int, entry.problem
    with _lock:
        noted = _of_application.get(number, 0)
        if len(_waiting) >= MAX_WAITING or noted >= MAX_PER_APPLICATION:
            _sizes["left out"] += 1
            return
        if problem:
            if len(problem) > MAX_PROBLEM_LENGTH or _sizes["bytes"] + len(problem) > MAX_BYTES:
                entry = entry._replace(problem=None)
            else:
                _sizes["bytes"] += len(problem)
        _waiting.append(entry)
        _of_application[number] = noted + 1


def flush_request_log() -> int:
    """Writes the noted calls and returns their number; keeps them, up to a limit, if the database is unavailable."""
    with _lock:
        entries, left_out = list(_waiting), _sizes["left out"]
        _waiting.clear()
        _of_application.clear()
        _sizes.clear()
    if left_out:
        logger.warning("%d calls are not in the request log: there were too many at once.", left_out)
    if not entries:
        return 0
    written = 0
    try:
        for written in range(0, len(entries), ROWS_AT_ONCE):
            time.sleep(PAUSE_SECONDS if written else 0)
            _write([_make_row(entry) for entry in entries[written : written + ROWS_AT_ONCE]])
    except BaseException:
        _put_back(entries[written:])
        raise
    return len(entries)


def _write(rows: list[dict[str, Any]]) -> None:
    """A row that PostgreSQL does not take is left out: kept, it would hold up the log of all applications for ever."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(ADD, [orjson.dumps(rows).decode()])
    except DataError as error:
        if len(rows) == 1:
            logger.warning("A call is not in the request log: %s", type(error).__name__)
            return
        half = len(rows) // 2
        _write(rows[:half])
        _write(rows[half:])


def is_enabled() -> bool:
    return settings.REQUEST_LOG_DAYS > 0


@lru_cache(maxsize=512)
def path_template(route: str) -> str:
    """A URL pattern in the notation of the API description: `/api/v1/store/{storeID}`."""
    return "/" + PLACE.sub(lambda match: "{" + parameter_name(match[1]) + "}", route)


def _put_back(entries: list[NotedCall]) -> None:
    with _lock:
        room = MAX_WAITING - len(_waiting)
        _waiting[:0] = entries[-room:] if room > 0 else []
        _of_application.update(entry.application_id.int for entry in entries[-room:] if room > 0)


def _make_row(entry: NotedCall) -> dict[str, Any]:
    path = path_template(entry.route)
    problem = _read_problem(entry.problem, path) if entry.problem else None
    errors = problem["Errors"] if problem else []
    return {
        "application_id": entry.application_id,
        "user_id": entry.user_id,
        "time": entry.began,
        # A client may send any word as a method.
        "method": _text(entry.method, 10),
        "path": path[:200],
        "status": entry.status,
        "code": problem["Code"] if problem else "",
        "pointer": errors[0]["Pointer"] if errors else "",
        "microseconds": min(entry.microseconds, MAX_INTEGER),
        "request_id": entry.request_id,
        "headers": {
            "request": _keep_present(tuple(REQUEST_HEADERS.values()), entry.request_headers),
            "response": _keep_present(REFUSAL_HEADERS, entry.response_headers),
        },
        "problem": problem,
    }


# Cached, because programs send the same headers with each request.
@lru_cache(maxsize=2048)
def _keep_present(names: tuple[str, ...], values: tuple[Any, ...]) -> dict[str, str]:
    return {name: _text(value, 200) for name, value in zip(names, values, strict=False) if value}


def _read_problem(body: bytes, path: str) -> dict[str, Any] | None:
    """The faults of a problem body, without messages that can quote personal data."""
    try:
        problem = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(problem, dict) or "Code" not in problem:
        return None
    faults = problem.get("Errors", ())[:LISTED_ERRORS]
    hidden = any(part in path for part in PERSONAL_PATHS)
    personal = [hidden or bool(PERSONAL.search(fault["Pointer"])) for fault in faults]
    return {
        "title": problem["title"],
        "Code": _text(problem["Code"], 80),
        "detail": OMITTED_TEXT if hidden or any(personal) else _text(problem["detail"], MAX_TEXT_LENGTH),
        "ErrorCount": problem.get("ErrorCount", 0),
        "Errors": [
            {
                "Pointer": _text(fault["Pointer"], 300),
                "Code": _text(fault["Code"], 80),
                "Message": OMITTED_TEXT if is_personal else _text(fault["Message"], MAX_TEXT_LENGTH),
            }
            for fault, is_personal in zip(faults, personal, strict=True)
        ],
    }


def _text(value: Any, longest: int) -> str:
    """The text without secrets and without characters that PostgreSQL refuses."""
    text = str(value).replace("\x00", "")[:longest]
    # Shortened again, because the mask can be longer than the secret.
    return mask_text(text.encode("utf-8", "replace").decode())[:longest]
