"""Walks the links of the service's pages as a signed-in person, one example of each kind of address."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, unquote, urljoin, urlsplit

from django.db import connection, reset_queries
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import Resolver404, resolve

LINK = re.compile(r'<a\b[^>]*?\shref="([^"]*)"')
NAMED = re.compile(r'<[a-z][^>]*?\s(?:id|name)="([^"]*)"')
# What these links lead to is no page.
NOT_PAGES = (
    "/static/",
    "/api/",
    "/icons/",
    "/.well-known/",
    "/proofs/",
    "/assets/",
    "/print-files/",
    "/mailing-files/",
    "/batch-files/",
)


@dataclass(frozen=True)
class Visit:
    path: str
    route: str
    response: Any
    queries: list[dict[str, str]]

    @property
    def links(self) -> set[str]:
        return links_of(self.path, self.response)

    @property
    def fragments(self) -> set[tuple[str, str]]:
        return fragments_of(self.path, self.response)


def walk(
    client: Client,
    starts: Iterable[str],
    *,
    examples: Collection[str] = (),
    below: str = "/",
    without: tuple[str, ...] = (),
    most_names: int = 9,
) -> Iterator[Visit]:
    """Visits each of `examples`, then `starts` and what all of them link to, breadth first. Two addresses are of one
    kind when the same view answers them with the same names in the query; only the first of a kind is visited, and
    none with more than `most_names` of them: filters join in every combination."""
    waiting, known = [*examples, *starts], set()
    given = set(examples)
    while waiting:
        path = waiting.pop(0)
        kind = kind_of(path)
        if (
            (kind in known and path not in given)
            or len(kind[1]) > most_names
            or not path.startswith(below)
            or path.startswith(without)
            or not is_page(path)
        ):
            continue
        known.add(kind)
        given.discard(path)
        visit = visit_page(client, path)
        yield visit
        waiting += sorted(visit.links)


def links_of(path: str, response: Any) -> set[str]:
    """The addresses on this site that a page links to, without fragments."""
    return {link.partition("#")[0] for link in _addresses(path, response)}


def fragments_of(path: str, response: Any) -> set[tuple[str, str]]:
    """The places on pages of this site that a page links to: address and name; the top of a page has no name."""
    parts = (link.partition("#") for link in _addresses(path, response))
    return {(address, unquote(name)) for address, _, name in parts if name not in {"", "top"}}


def dead_fragments(client: Client, visits: Iterable[Visit]) -> set[tuple[str, str, str]]:
    """Links to places that are not there, each with the page it is on; what was not visited is looked up."""
    names: dict[str, set[str]] = {}
    wanted = []
    for visit in visits:
        names.setdefault(visit.path, names_in(visit.response))
        wanted += [(visit.path, *fragment) for fragment in sorted(visit.fragments)]
    for _, address, _ in wanted:
        if address not in names:
            names[address] = names_in(client.get(address))
    return {(page, address, name) for page, address, name in wanted if name not in names[address]}


def names_in(response: Any) -> set[str]:
    """What a fragment may name on a page."""
    return {unescape(name) for name in NAMED.findall(_text(response))}


def _addresses(path: str, response: Any) -> set[str]:
    addresses = {urljoin(path, unescape(link)) for link in LINK.findall(_text(response))}
    return {link for link in addresses if not urlsplit(link).scheme}


def _text(response: Any) -> str:
    is_page = response.get("Content-Type", "").startswith("text/html")
    return response.content.decode() if is_page else ""


def visit_page(client: Client, path: str) -> Visit:
    # Django keeps 9,000 and counts from there.
    reset_queries()
    with CaptureQueriesContext(connection) as queries:
        response = client.get(path)
        # Read to its end, a download is closed.
        _ = response.getvalue()
    return Visit(path, kind_of(path)[0], response, list(queries.captured_queries))


@cache
def is_page(path: str) -> bool:
    """Whether the address is one of a page; pictures are opened by links too."""
    if path.startswith(NOT_PAGES):
        return False
    try:
        return not getattr(resolve(urlsplit(path).path).func, "serves_picture", False)
    except Resolver404:
        return True


@cache
def kind_of(path: str) -> tuple[str, frozenset[str]]:
    parts = urlsplit(path)
    names = frozenset(name for name, _ in parse_qsl(parts.query, keep_blank_values=True))
    try:
        return resolve(parts.path).route, names
    except Resolver404:
        return parts.path, names
