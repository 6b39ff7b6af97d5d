"""Fields, limits and errors common to all report formats."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from fulfillment.core.json_depth import MAX_DEPTH, is_too_deep
from fulfillment.core.web_addresses import web_address
from production.interface import Report, ReportedState

FIELDS = (
    "JobNumber",
    "State",
    "At",
    "Carrier",
    "TrackingNumber",
    "TrackingURL",
    "Message",
    "ReportID",
)
MAX_BODY_BYTES = 2 * 1024 * 1024
MAX_REPORTS = 10_000
MAX_STORED_LENGTH = 4000
MAX_LENGTHS = {"JobNumber": 100, "State": 40, "At": 40, "TrackingURL": 500, "Message": 1000}
MAX_OTHER_LENGTH = 100


def report_from_values(values: Mapping[str, str], *, where: str, raw: str) -> Report:
    """Raises ValueError naming the place, the field, what is wrong and what is allowed."""
    texts = {name: _read_text(name, values.get(name, ""), where) for name in FIELDS}
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", texts["JobNumber"]):
        raise ValueError(
            f"{where}: JobNumber is {_quoted_text(texts['JobNumber'])}, not the number of a job."
        )
    state = _read_state(texts["State"], where)
    at = read_time(texts["At"], where=where, field="At") if texts["At"] else None
    _check_url(texts["TrackingURL"], where)
    return Report(
        identifier=report_identifier(texts["ReportID"], texts["JobNumber"], state, at, texts),
        job_number=texts["JobNumber"],
        state=state,
        at=at,
        carrier=texts["Carrier"],
        tracking_number=texts["TrackingNumber"],
        tracking_url=texts["TrackingURL"],
        message=texts["Message"],
        raw=raw[:MAX_STORED_LENGTH],
    )


def report_identifier(
    report_id: str, job_number: str, state: str, at: datetime | None, values: Mapping[str, str]
) -> str:
    """A stable identifier of a report: its own ID, else a digest of its content."""
    parts = [job_number, report_id] if report_id else [job_number, state, at.isoformat() if at else ""]
    if not report_id:
        parts += [values.get(name, "") for name in FIELDS[3:7]]
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "replace")).hexdigest()


def read_time(text: str, *, where: str, field: str) -> datetime:
    """ISO 8601; a time without a zone is UTC."""
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(
            f"{where}: {field} is {_quoted_text(text)}; write a time such as 2026-05-04T09:30:00Z."
        ) from error


def check_count(count: int) -> None:
    if count > MAX_REPORTS:
        raise ValueError(f"At most {MAX_REPORTS:,} reports are read from one file.")


def decode_body(body: bytes) -> str:
    if len(body) > MAX_BODY_BYTES:
        raise ValueError(f"A report may have at most {MAX_BODY_BYTES:,} bytes; this one has {len(body):,}.")
    try:
        text = body.decode("utf-16" if body[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = body[: error.start].count(b"\n") + 1
        raise ValueError(f"Line {line}: the text is not UTF-8. Save the file as UTF-8.") from error
    if "\x00" in text:
        raise ValueError(
            f"Line {text[: text.index(chr(0))].count(chr(10)) + 1}: NUL characters are not allowed."
        )
    return text


def read_json(body: bytes, *, constant: Callable[[str], Any] | None = None) -> Any:
    """Raises ValueError; what it returns can be written again, too. `constant` gets words such as NaN."""
    text = decode_body(body)
    if is_too_deep(text.encode()):
        raise ValueError(f"The JSON is nested deeper than {MAX_DEPTH} levels.")
    try:
        return json.loads(text, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise ValueError(f"Line {error.lineno}: this is not JSON: {error.msg}.") from error


def _read_text(name: str, value: str, where: str) -> str:
    text = re.sub(r"[\x00-\x1f\x7f]+", " ", value).strip()
    limit = MAX_LENGTHS.get(name, MAX_OTHER_LENGTH)
    if name == "Message":
        return text[:limit]
    if len(text) > limit:
        raise ValueError(f"{where}: {name} has {len(text)} characters; {limit} are allowed.")
    return text


def _read_state(text: str, where: str) -> str:
    word = re.sub(r"[\s_-]+", "", text).lower().replace("canceled", "cancelled")
    for state in ReportedState:
        if word == state.lower():
            return state.value
    raise ValueError(f"{where}: State is {_quoted_text(text)}; it must be one of {', '.join(ReportedState)}.")


def _check_url(url: str, where: str) -> None:
    if url and (web_address(url) is None or re.search(r'[<>"]', url)):
        raise ValueError(
            f"{where}: TrackingURL is {_quoted_text(url)}; write an address such as https://example.com/1."
        )


def _quoted_text(text: str) -> str:
    return f"“{text[:60]}”" if text else "empty"
