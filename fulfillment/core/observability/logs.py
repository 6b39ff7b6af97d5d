"""Log lines as JSON objects, with the data of their request and without secrets."""

import codecs
import json
import logging
import os
import re
import secrets
import traceback
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest

# W3C Trace Context: version, trace, the caller's span, flags.
TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})\Z")
# Django logs with it; the first use opens a file, which fails when a process has no file handles left.
codecs.lookup("unicode_escape")
MASK = "***"
# Prefixes of our secrets; others are recognised by the name before them.
GENERATED = re.compile(r"\b(sf[a-z]{1,3}_(?:at_|rt_)?|whsec_)[A-Za-z0-9_\-+/=]{8,}")
NAMED = re.compile(
    r"(?i)(authorization|ocp-apim-subscription-key|client_secret|refresh_token|access_token|code_verifier|"
    r"subscription_key|password|secret|token|csrfmiddlewaretoken|sessionid|__host-session|code)"
    r"(['\"]?\s*[=:]\s*['\"]?)((?:bearer|basic)\s+)?([^\s'\"&,;}]+)"
)
CREDENTIALS = re.compile(r"(?i)\b(bearer|basic) +[A-Za-z0-9\-._~+/]{8,}=*")
STEERING = re.compile(
    "[\\x00-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff\\ufeff]"
)
IN_ADDRESS = re.compile(r"://([^\s:/@]+):[^\s@/]+@")
# Every run of these letters is one match, an address or not: started at each letter, a long run would take minutes.
EMAIL = re.compile(r"[\w.+-]++(@[\w-]+(?:\.[\w-]+)+)?")
# PostgreSQL quotes refused rows and values there. In a stack trace other errors may follow.
ROW = re.compile(r"(DETAIL|CONTEXT): .*?(?=\n\n(?:The above|During handling)|\Z)", re.DOTALL)


@dataclass(slots=True)
class RequestTrace:
    """The trace of the current request; the caller is looked up when a line is written."""

    trace_id: str
    span_id: str
    flags: str = "00"
    request: Any = None

    @property
    def traceparent(self) -> str:
        return f"00-{self.trace_id}-{self.span_id}-{self.flags}"

    def fields(self) -> dict[str, Any]:
        caller = getattr(self.request, "auth", None)
        page_user = getattr(self.request, "_cached_user", None)
        values = {
            "application": getattr(caller, "application_id", None),
            "subscription": getattr(caller, "subscription_id", None),
            # Only if the session is already loaded: logging must not query the database.
            "user": caller.user_id if caller else getattr(page_user, "pk", None),
            "address": self.request.META.get("REMOTE_ADDR") if self.request else None,
        }
        return {"request": self.trace_id, "span": self.span_id} | {
            name: str(value) for name, value in values.items() if value
        }


current_trace: ContextVar[RequestTrace | None] = ContextVar("current_trace", default=None)
# Known once the URLs are loaded, before the first request.
_links: list[re.Pattern[str]] = []
# With OpenTelemetry: the IDs of trace and span, and whether the trace is sampled.
span_of_tracer: Callable[[], tuple[str, str, str] | None] | None = None


def start_trace(request: HttpRequest) -> RequestTrace:
    """Continues the caller's trace, or begins one if none or an invalid one was sent."""
    if span_of_tracer and (span := span_of_tracer()):
        return RequestTrace(*span, request)
    header = request.META.get("HTTP_TRACEPARENT")
    match = TRACEPARENT.match(header) if header else None
    if match:
        return RequestTrace(match[1], secrets.token_hex(8), match[2], request)
    identifier = os.urandom(24).hex()
    return RequestTrace(identifier[:32], identifier[32:], "00", request)


def mask_links(starts: str) -> None:
    """Masks what follows these starts of paths, an expression, up to the next slash."""
    _links[:] = [re.compile(rf"({starts})[^/\s?#\"'<>]+")]


def mask_text(text: str) -> str:
    """Removes secrets, e-mail addresses, and rows that PostgreSQL quotes."""
    text = GENERATED.sub(rf"\1{MASK}", text)
    text = CREDENTIALS.sub(rf"\1 {MASK}", text)
    if _links:
        text = _links[0].sub(rf"\1{MASK}", text)
    text = NAMED.sub(rf"\1\2{MASK}", text)
    text = IN_ADDRESS.sub(rf"://\1:{MASK}@", text)
    if "@" in text:
        text = EMAIL.sub(lambda match: MASK if match[1] else match[0], text)
    return ROW.sub(rf"\1: {MASK}", text)


class SecretFilter(logging.Filter):
    """Masks secrets and people in the finished message, its arguments included."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = mask_text(record.getMessage()), None
        return True


class RefusalFilter(logging.Filter):
    """Logs requests that Django refuses in one line: otherwise any client could fill the log with stacks."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith("django.security."):
            record.levelno, record.levelname = logging.WARNING, "WARNING"
            record.exc_info = record.exc_text = None
        return True


class PlainFormatter(logging.Formatter):
    """One line for each record, even if it contains line ends; stack traces are indented."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's own name
        return escape_controls(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802 - logging's own name
        return _indent_trace(mask_text(super().formatException(ei)))

    def formatStack(self, stack_info: str) -> str:  # noqa: N802 - logging's own name
        return _indent_trace(mask_text(super().formatStack(stack_info)))


def escape_controls(text: str) -> str:
    """Escapes line ends, terminal controls and direction marks."""
    return STEERING.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def _indent_trace(trace: str) -> str:
    return "\n".join(f"    {escape_controls(line)}" for line in trace.split("\n"))


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": mask_text(record.getMessage()),
        }
        if trace := current_trace.get():
            line |= trace.fields()
        fields: dict[str, Any] = getattr(record, "fields", {})
        line |= {
            name: mask_text(value) if isinstance(value, str) else value for name, value in fields.items()
        }
        if record.exc_info and record.exc_info[0]:
            line["error"] = mask_text("".join(traceback.format_exception(*record.exc_info)))
        # Half of a pair of surrogates has no bytes in UTF-8; it is escaped as JSON escapes it.
        return json.dumps(line, ensure_ascii=False, default=str).encode(errors="backslashreplace").decode()


def logging_settings(level: str, form: str) -> dict[str, Any]:
    """Django's LOGGING; `form` is `plain` or `json`."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {
            "secrets": {"()": f"{__name__}.SecretFilter"},
            "refusals": {"()": f"{__name__}.RefusalFilter"},
        },
        "formatters": {
            "plain": {
                "()": f"{__name__}.PlainFormatter",
                "format": "%(asctime)s %(levelname)s %(name)s %(message)s",
            },
            "json": {"()": f"{__name__}.JsonFormatter"},
        },
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "formatter": form,
                "filters": ["secrets", "refusals"],
            }
        },
        "loggers": {
            # Refusals are the clients' business; the access log has them.
            "django.request": {"level": "ERROR"},
            "fulfillment.core.api.access": {"level": "INFO"},
            # At the lowest level it writes refresh tokens and codes into its messages.
            "oauthlib": {"level": "INFO"},
        },
        "root": {"handlers": ["console"], "level": level},
    }
