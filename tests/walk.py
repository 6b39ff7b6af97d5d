"""Walks the links of the service's pages as a signed-in person, one example of each kind of address."""

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit

from django.db import connection, reset_queries
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import Resolver404, resolve

LINK = re.compile(r'<a\b[^>]*?\shref="([^"]*)"')
# What these links lead to is no page.
NOT_PAGES = ("/static/", "/api/", "/icons/", "/.well-known/", "/proofs/", "/assets/")


@dataclass(frozen=True)
class Visit:
    path: str
    route: str
    response: Any
    queries: list[dict[str, str]]
    milliseconds: float

    @property
    def links(self) -> set[str]:
        return links_of(self.path, self.response)


def walk(
    client: Client,
    starts: Iterable[str],
    *,
    below: str = "/",
    without: tuple[str, ...] = (),
    most_names: int = 9,
) -> Iterator[Visit]:
    """Visits `starts` and what they link to, breadth first. Two addresses are of one kind when the same view
    answers them with the same names in the query; only the first of a kind is visited, and none with more than
    `most_names` of them: filters join in every combination."""
    waiting, known = list(starts), set()
    while waiting:
        path = waiting.pop(0)
        kind = kind_of(path)
        if (
            kind in known
            or len(kind[1]) > most_names
            or not path.startswith(below)
            or path.startswith((*NOT_PAGES, *without))
        ):
            continue
        known.add(kind)
        visit = visit_page(client, path)
        yield visit
        waiting += sorted(visit.links)


def links_of(path: str, response: Any) -> set[str]:
    """The addresses on this site that a page links to, without fragments."""
    if not response.get("Content-Type", "").startswith("text/html"):
        return set()
    found = {urljoin(path, unescape(link)) for link in LINK.findall(response.content.decode())}
    return {link.partition("#")[0] for link in found if not urlsplit(link).scheme}


def visit_page(client: Client, path: str) -> Visit:
    # Django keeps 9,000 and counts from there.
    reset_queries()
    with CaptureQueriesContext(connection) as queries:
        started = time.perf_counter()
        response = client.get(path)
        milliseconds = 1000 * (time.perf_counter() - started)
        # Read to its end, a download is closed.
        _ = response.getvalue()
    return Visit(path, kind_of(path)[0], response, list(queries.captured_queries), milliseconds)


@cache
def kind_of(path: str) -> tuple[str, frozenset[str]]:
    parts = urlsplit(path)
    names = frozenset(name for name, _ in parse_qsl(parts.query, keep_blank_values=True))
    try:
        return resolve(parts.path).route, names
    except Resolver404:
        return parts.path, names
