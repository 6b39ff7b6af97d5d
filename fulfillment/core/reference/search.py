"""Searches operations, members, error codes, events and guides in memory, by what a person would type."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from fulfillment.core.reference.guides import guides
from fulfillment.core.reference.operations import events, operations
from fulfillment.core.reference.problems import problems
from fulfillment.core.reference.schemas import DescribedMember

MAX_RESULTS = 40
MAX_QUERY_LENGTH = 100
# What an entry gains whose text has every word, though none of its names does.
CONTAINED = 0.1
# What an operation gains before guides, events and errors.
PREFERRED = 0.2
# Words that say what is done, and what they weigh beside those of things.
ACT_WORDS = "again cancel change check create delete list place read rotate test"
ACTS = frozenset(ACT_WORDS.split())
ACT = 0.3
# Words of a question that say nothing of what is searched.
EMPTY_WORDS = (
    "a an and are at by can could do does for from get gets give how i in into is it its me my of on or our "
    "please should show that the this to us want we what when which with would you your"
)
EMPTY = frozenset(EMPTY_WORDS.split())
WORD = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)*")
# Words that mean the same to a reader of an API.
SAME = (
    *(
        "create add make new",
        "place submit send",
        "read fetch retrieve view see",
        "change update edit modify",
    ),
    *("delete remove", "rotate replace regenerate renew", "picture image photo", "price cost pricing prices"),
    *("application app client", "test sandbox", "e-mail email", "delivery shipping"),
)


@dataclass(frozen=True, slots=True)
class SearchEntry:
    kind: str
    title: str
    about: str
    url: str
    # Each set of words names the entry: its title, and what people type to find it.
    names: tuple[frozenset[str], ...]
    words: str


def find_entries(text: str) -> list[SearchEntry]:
    """The best first: by name operations come before guides, then what is most alike."""
    stems = _find_stems(text[:MAX_QUERY_LENGTH])
    if not stems:
        return []
    entries = _list_entries()
    hits = [
        entry for entry in entries if _contains(entry, stems) or any(stems & name for name in entry.names)
    ]
    hits.sort(key=lambda entry: _rank_entry(entry, text.strip().lower(), stems))
    return hits[:MAX_RESULTS]


def _rank_entry(entry: SearchEntry, text: str, stems: frozenset[str]) -> tuple[bool, bool, bool, float]:
    """Sorts ascending; entries of equal rank stay in the order of the reference."""
    likeness = max(_measure_likeness(stems, name) for name in entry.names)
    is_named = any(stems <= name for name in entry.names)
    if not is_named and _contains(entry, stems):
        likeness += CONTAINED
    likeness += PREFERRED * (entry.kind == "Operation")
    return entry.title.lower() != text, not is_named, is_named and entry.kind != "Operation", -likeness


def _measure_likeness(stems: frozenset[str], name: frozenset[str]) -> float:
    """The share of words in common, where a thing says more than what is done with it."""
    common, every = (
        sum(ACT if word in ACTS else 1 for word in words) for words in (stems & name, stems | name)
    )
    return common / every


def _contains(entry: SearchEntry, stems: frozenset[str]) -> bool:
    return all(word in entry.words or any(word in name for name in entry.names) for word in stems)


def _find_stems(text: str) -> frozenset[str]:
    """The stems without empty words, unless there are no others."""
    words = WORD.findall(text.lower())
    return frozenset(_find_stem(word) for word in words if word not in EMPTY) or frozenset(words)


def _find_stem(word: str) -> str:
    singular = word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
    return _list_synonyms().get(singular, singular)


@cache
def _list_synonyms() -> dict[str, str]:
    return {word: group.split()[0] for group in SAME for word in group.split()}


@cache
def _list_entries() -> tuple[SearchEntry, ...]:
    return (*_operation_entries(), *_other_entries())


def _make_entry(
    kind: str, title: str, about: str, url: str, *texts: str, names: Iterable[str] = ()
) -> SearchEntry:
    stems = tuple(_find_stems(name) for name in (title, *names))
    return SearchEntry(kind, title, about, url, stems, " ".join([title, about, *texts]).lower())


def _operation_entries() -> Iterator[SearchEntry]:
    for operation in operations().values():
        members = {
            name
            for response in operation.responses
            if response.schema
            for name in _list_names([response.schema])
        }
        members |= {name for _, group in operation.parameters for name in _list_names(group)}
        members |= (
            set(_list_names([operation.body.schema])) if operation.body and operation.body.schema else set()
        )
        about, words = f"{operation.method} {operation.path}", sorted(members)
        yield _make_entry(
            "Operation",
            operation.title,
            about,
            operation.url,
            operation.text,
            *words,
            names=operation.phrases,
        )


def _list_names(members: Iterable[DescribedMember]) -> Iterator[str]:
    for member in members:
        yield member.name
        yield from _list_names(member.members)


def _other_entries() -> Iterator[SearchEntry]:
    for event in events().values():
        yield _make_entry(
            "Event", event.name, "Event of a webhook", event.url, *_list_names(event.schema.members)
        )
    for guide in guides().values():
        yield _make_entry("Guide", guide.title, "", guide.url, guide.text)
        for fragment, heading in guide.headings:
            yield _make_entry("Guide", heading, guide.title, f"{guide.url}#{fragment}")
    for problem in problems().values():
        yield _make_entry("Error", problem.code, problem.about.replace("`", ""), problem.url)
