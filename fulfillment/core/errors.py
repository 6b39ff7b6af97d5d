"""Domain errors: raised by services and selectors; each interface renders them in its own form.

The mistakes of a body are all counted; the first are listed.
"""

import errno
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Self

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from fulfillment.core.recorded_texts import translated
from printing import bounded

logger = logging.getLogger("fulfillment.errors")
# Otherwise a body full of mistakes would get a response of ten times its size.
MAX_LISTED = 100
# The code of an error detail that stands for mistakes which are only counted; its text is their number.
UNLISTED = "unlisted"
SHORTAGES = dict.fromkeys((errno.ENOSPC, errno.EDQUOT), gettext_lazy("room for temporary files")) | {
    **dict.fromkeys((errno.EMFILE, errno.ENFILE), gettext_lazy("file handles")),
    errno.ENOMEM: gettext_lazy("memory"),
}


@dataclass(frozen=True)
class Fault:
    """One mistake in the input; `pointer` is a JSON pointer to it ('' = the whole input)."""

    pointer: str
    code: str
    message: str


class DomainError(Exception):
    """A refusal with a stable `code`, a sentence for people and the HTTP status an API answers with.

    `members` are further facts a program can use, such as the ID of what is in the way. `fault_count` says how many
    faults there are where not all of them are given.
    """

    status = 400
    code = "invalid"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        faults: Iterable[Fault] = (),
        fault_count: int = 0,
        members: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.code
        self.faults = tuple(faults)
        self.fault_count = max(fault_count, len(self.faults))
        self.members = dict(members or {})

    @property
    def messages(self) -> list[str]:
        """The messages for people, in their language: the sentence of each fault, else of the whole."""
        return [translated(fault.message) for fault in self.faults] or [translated(self.message)]


class Invalid(DomainError):
    """The input breaks a rule; `faults` say where and what is allowed."""

    @classmethod
    def at(cls, pointer: str, code: str, message: str) -> Self:
        return cls(message, code=code, faults=[Fault(pointer, code, message)])


def invalid_after() -> Invalid:
    """Refuses a position of a page that no `Link` header has."""
    return Invalid.at(
        "?after", "parameter_invalid", "after: take it from the Link header of the page before."
    )


def raise_faults(faults: Sequence[Fault], *, code: str = "invalid_body", part: str = "body") -> None:
    if faults:
        raise invalid_from(faults, code=code, part=part)


def invalid_from(faults: Sequence[Fault], *, code: str = "invalid_body", part: str = "body") -> Invalid:
    if len(faults) == 1:
        return Invalid(faults[0].message, code=faults[0].code, faults=faults)
    return Invalid(
        _("The %(part)s has %(count)s errors.")
        % {"count": number_format(len(faults), force_grouping=True), "part": part},
        code=code,
        faults=faults,
    )


@contextmanager
def collecting_faults(faults: list[Fault]) -> Iterator[None]:
    """Adds the faults of an Invalid to `faults` instead of raising it."""
    try:
        yield
    except Invalid as refusal:
        faults += refusal.faults


class Forbidden(DomainError):
    status = 403
    code = "forbidden"


class NotFound(DomainError):
    status = 404
    code = "not_found"


class Conflict(DomainError):
    status = 409
    code = "conflict"


class Busy(Conflict):
    """Another request does the same right now; `retry_after` is in seconds."""

    code = "request_in_progress"
    retry_after = 1


class PreconditionFailed(DomainError):
    """The record has changed since the caller read it."""

    status = 412
    code = "precondition_failed"


class Unprocessable(DomainError):
    status = 422
    code = "unprocessable"


class Unavailable(DomainError):
    """A dependency is unavailable for now; `retry_after` is in seconds."""

    status = 503
    code = "service_unavailable"
    retry_after = 5


class Shortage(Unavailable):
    """This process has nothing left of what `name` says."""

    def __init__(self, name: str) -> None:
        super().__init__(
            _("The service has no %(name)s left right now. Nothing was saved; try again in a few seconds.")
            % {"name": name}
        )
        self.name = name


def find_shortage(error: BaseException | None) -> Shortage | None:
    """The refusal, logged in one line, of a request that found the process without memory, files or room for them."""
    name = str(SHORTAGES.get(error.errno or 0, "")) if isinstance(error, OSError) else ""
    if isinstance(error, MemoryError) or "can't start new thread" in str(error):
        name = "memory"
    if not name:
        return None
    logger.error("This process has no %s left: %s", name, error)
    return Shortage(name)


class RendererKilled(Unavailable, bounded.RendererKilled):
    code = "renderer_killed"


class RenderersBusy(Unavailable, bounded.RenderingBusy):
    code = "renderers_busy"


class TooManyRequests(DomainError):
    """A limit is used up for now; `retry_after` is in seconds."""

    status = 429
    code = "rate_limit_exceeded"

    def __init__(
        self,
        message: str,
        *,
        retry_after: int,
        code: str | None = None,
        members: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message, code=code, members=members)
        self.retry_after = retry_after


class ServiceBusy(Unavailable):
    """Work of other callers is at a concurrency limit."""

    code = "service_busy"
    retry_after = 2


class TooManyAtOnce(TooManyRequests):
    """The caller's own work is at a concurrency limit."""

    code = "too_many_at_once"

    def __init__(self, message: str, *, retry_after: int = ServiceBusy.retry_after) -> None:
        super().__init__(message, retry_after=retry_after)


def in_one_line(error: BaseException) -> str:
    """The error in one line: messages of the database have several, with hints."""
    return " ".join(str(error).split())


@dataclass(slots=True)
class CountedFaults:
    count: int = 0
    listed: list[Fault] = field(default_factory=list)

    def count_one(self) -> bool:
        """Counts a mistake; returns whether it is listed and therefore needs a message."""
        self.count += 1
        return len(self.listed) < MAX_LISTED

    @property
    def summary(self) -> str:
        if self.count == 1 and self.listed:
            return self.listed[0].message
        return _("The body has %(count)s errors.") % {"count": number_format(self.count, force_grouping=True)}

    def as_error(self) -> Invalid:
        return Invalid(self.summary, code="invalid_body", faults=self.listed, fault_count=self.count)


def faults_at_fields(error: DomainError, fields: Mapping[str, str]) -> tuple[dict[str, list[str]], list[str]]:
    """The messages of each form field, and those that belong to no field; `fields` maps JSON pointers to names.

    A fault within a member is shown at the field of the member.
    """
    placed: dict[str, list[str]] = {}
    other_messages = [] if error.faults else [translated(error.message)]
    for fault in error.faults:
        pointer = fault.pointer
        while pointer and pointer not in fields:
            pointer = pointer.rpartition("/")[0]
        if pointer not in fields or (fault.pointer and not pointer):
            other_messages.append(translated(fault.message))
            continue
        message, texts = _without_name(translated(fault.message)), placed.setdefault(fields[pointer], [])
        if message not in texts:
            texts.append(message)
    return placed, other_messages


def _without_name(message: str) -> str:
    """The message without the API's name: the field of a form has a label."""
    name, _colon, reason = message.partition(": ")
    return reason[:1].upper() + reason[1:] if reason and " " not in name else message
