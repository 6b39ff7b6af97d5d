"""Searches operations, members, error codes, events and guides in memory."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from fulfillment.core.reference.guides import guides
from fulfillment.core.reference.operations import events, operations
from fulfillment.core.reference.problems import problems
from fulfillment.core.reference.schemas import Member

MOST = 40
LONGEST = 100


@dataclass(frozen=True, slots=True)
class Entry:
    kind: str
    title: str
    about: str
    url: str
    words: str


def found(text: str) -> list[Entry]:
    """The entries that contain every word, matching titles first."""
    words = text[:LONGEST].lower().split()
    if not words:
        return []
    hits = [entry for entry in _entries() if all(word in entry.words for word in words)]
    hits.sort(key=lambda entry: not all(word in entry.title.lower() for word in words))
    return hits[:MOST]


@cache
def _entries() -> tuple[Entry, ...]:
    return (*_of_operations(), *_of_events(), *_of_guides(), *_of_codes())


def _entry(kind: str, title: str, about: str, url: str, *more: str) -> Entry:
    return Entry(kind, title, about, url, " ".join([title, about, *more]).lower())


def _of_operations() -> Iterator[Entry]:
    for one in operations().values():
        members = {name for answer in one.answers if answer.schema for name in _names([answer.schema])}
        members |= {name for _, group in one.parameters for name in _names(group)}
        members |= set(_names([one.body.schema])) if one.body and one.body.schema else set()
        yield _entry("Operation", one.title, f"{one.method} {one.path}", one.url, one.text, *sorted(members))


def _names(members: Iterable[Member]) -> Iterator[str]:
    for member in members:
        yield member.name
        yield from _names(member.members)


def _of_events() -> Iterator[Entry]:
    for event in events().values():
        yield _entry("Event", event.name, "Event of a webhook", event.url, *_names(event.schema.members))


def _of_guides() -> Iterator[Entry]:
    for guide in guides().values():
        yield _entry("Guide", guide.title, "", guide.url, guide.text)
        for fragment, heading in guide.headings:
            yield _entry("Guide", heading, guide.title, f"{guide.url}#{fragment}")


def _of_codes() -> Iterator[Entry]:
    for one in problems().values():
        yield _entry("Error", one.code, one.about.replace("`", ""), one.url)
