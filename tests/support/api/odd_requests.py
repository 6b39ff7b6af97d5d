"""Requests with odd values for every address, filter and ordering of the console, read off its registry.

What is registered later is among them by itself.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import cycle
from typing import Any
from urllib.parse import quote, urlencode

from django.contrib import admin
from django.db.models import Model
from django.urls import URLPattern, URLResolver

HUGE = "9" * 30
# No UUID, no number, too long, of another type, or text that PostgreSQL cannot store.
ODD_VALUES = (
    "x",
    "",
    "0",
    "-1",
    "1.5",
    "1e400",
    "nan",
    "2147483648",
    "9223372036854775808",
    HUGE,
    "9" * 5000,
    "\0",
    "a\0b",
    "٣",
    "²",
    "00000000-0000-0000-0000-000000000000",
    "00000000-0000-0000-0000-00000000000g",
    "{00000000000000000000000000000000}",
    "true",
    "null",
    "[]",
    "2026-13-45",
    "0001-01-01",
    "9999-12-31",
    "0000-00-00",
    "9999-12-31T23:59:59-12:00",
    "10000-01-01",
    "%",
    "\\",
    "'",
    "(",
    ",",
    "," * 500,
    "_00",
    "\U0001f389\ufffe",
    "1 " * 800,
    "x" * 1500,
)
LOOKUPS = (
    "exact",
    "gte",
    "in",
    "isnull",
    "range",
    "regex",
    "year",
    "contained_by",
    "unaccent",
    "0",
    "id__exact",
    "pk__in",
)
OF_FIELDS = ("", "__exact", "__in", "__gte")
LIST_PARAMETERS = (
    "p", "page", "o", "q", "all", "_popup", "_to_field", "_facets", "_changelist_filters", "e", "before", "items",
    "pk", "pk__in", "id__exact", "id__in", "pk__nonsense", "pk__regex", "user__password__startswith", "nonsense", "__",
    "__in", "\0", "columns", "sort", "view", "store", "due",
)  # fmt: skip
ORDERINGS = ("x", "0", "99", "-99", "1.1.-", "..", "--1", HUGE, "\0", "1.-2.3.x", "²", "." * 600)
# What the pages of our own and of the site read.
PAGE_PARAMETERS = [
    "id",
    "postal_code",
    "page",
    "p",
    "q",
    "s",
    "term",
    "app_label",
    "model_name",
    "field_name",
    "person",
    "kind",
    "action",
    "object",
    "from",
    "to",
    "after",
    "before",
    "store",
    "provider",
    "order",
    "days",
    "extended",
    "adapter",
    "items",
    "show",
    "version",
    "restore",
    "family",
    "pixels",
    "ink",
    "view",
    "columns",
    "includeTest",
    "next",
]
SENT = (
    "action",
    "_selected_action",
    "select_across",
    "index",
    "id",
    "item",
    "move_to",
    "seen",
    "provider",
    "do",
    "query",
)
PARAMETER = re.compile(r"<(?:(\w+):)?(\w+)>")
MAX_PATH_LENGTH = 1800
KNOWN = {"<uuid": "00000000-0000-4000-8000-000000000000"}


@dataclass(frozen=True)
class OddRequest:
    place: str
    sent: dict[str, Any] | None = None
    query: tuple[tuple[str, str], ...] = ()

    @property
    def path(self) -> str:
        """Encoded for the few that are chosen."""
        return f"{self.place}?{urlencode(self.query)}" if self.query else self.place

    def __str__(self) -> str:
        return f"{'GET' if self.sent is None else 'POST'} {self.path[:200]!r} {str(self.sent or '')[:120]}"


def console_routes(
    patterns: Iterable[URLPattern | URLResolver] | None = None, prefix: str = "/admin/"
) -> Iterator[str]:
    """Every route of the console, as `/admin/stores/order/<path:object_id>/change/`."""
    for pattern in admin.site.get_urls() if patterns is None else patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from console_routes(pattern.url_patterns, route)
        elif not route.endswith("$"):
            yield route


def filled(route: str, value: str) -> list[str]:
    """The route with the odd value in each of its places in turn, and a known one in the others."""
    places = [place[0] for place in PARAMETER.finditer(route)]
    made = []
    for odd in places:
        path = route
        for place in places:
            path = path.replace(
                place, quote(value if place == odd else KNOWN.get(place.split(":")[0], "1"), safe="")
            )
        made.append(path)
    return made


def odd_paths() -> Iterator[list[OddRequest]]:
    """For each place of each route, read and sent."""
    for route in console_routes():
        for number, _ in enumerate(PARAMETER.finditer(route)):
            paths = [filled(route, value)[number] for value in ODD_VALUES if len(value) < MAX_PATH_LENGTH]
            yield [OddRequest(path) for path in paths]
            yield [OddRequest(path, {"post": "yes"}) for path in paths]


def odd_lists(request: Any) -> Iterator[list[OddRequest]]:
    """For each list that the person sees: its parameters, filters, lookups, orderings and actions.

    Fields have the kinds of OF_FIELDS in turn.
    """
    kinds = cycle(OF_FIELDS)
    for model, model_admin in admin.site._registry.items():
        if not model_admin.has_module_permission(request):
            continue
        address = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        filters = filter_names(model_admin, request)
        names = [*LIST_PARAMETERS, *filters]
        names += [f"{name}__{lookup}" for name in filters for lookup in LOOKUPS]
        names += [f"{name}{next(kinds)}" for name in field_names(model)]
        yield from odd_queries(address, dict.fromkeys(names))
        yield [OddRequest(address, query=(("o", order), ("q", "a"))) for order in ORDERINGS]
        yield [OddRequest(f"{address}?q=%ff%fe&p=%80")]
        yield from odd_forms(address)


def odd_pages() -> Iterator[list[OddRequest]]:
    """Of the pages without an ID in their address, but lists and forms."""
    lists = {f"/admin/{model._meta.app_label}/{model._meta.model_name}/" for model in admin.site._registry}
    for route in console_routes():
        if "<" not in route and not route.endswith("/add/") and route not in lists:
            yield from odd_queries(route, PAGE_PARAMETERS)
            yield from odd_forms(route)


def odd_queries(address: str, names: Iterable[str]) -> Iterator[list[OddRequest]]:
    for name in names:
        once = [OddRequest(address, query=((name, value),)) for value in ODD_VALUES]
        twice = [OddRequest(address, query=((name, "1"), (name, value))) for value in ODD_VALUES[:5]]
        yield [*once, *twice]


def odd_forms(address: str) -> Iterator[list[OddRequest]]:
    for name in SENT:
        yield [OddRequest(address, {"index": "0", name: [value, "1"]}) for value in ODD_VALUES]


def chosen(groups: Iterable[list[OddRequest]], each: int) -> Iterator[OddRequest]:
    """Some of each group, so that every name is tried and every value is."""
    for number, group in enumerate(groups):
        for position in range(min(each, len(group))):
            yield group[(number * 7 + position * 11) % len(group)]


def filter_names(model_admin: Any, request: Any) -> set[str]:
    """The names its filters read, by their fields or of their own."""
    names: set[str] = {model_admin.date_hierarchy} if model_admin.date_hierarchy else set()
    for list_filter in model_admin.get_list_filter(request):
        named = list_filter[0] if isinstance(list_filter, tuple | list) else list_filter
        names.add(named if isinstance(named, str) else getattr(named, "parameter_name", ""))
    return names - {""}


def field_names(model: type[Model]) -> list[str]:
    return [field.name for field in model._meta.get_fields()]
