"""The search of lists: each word must occur in a name of the record or of a related one; and results for a user."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Any

from django.contrib import admin
from django.db.models import Model, Q, QuerySet
from django.db.models.constants import LOOKUP_SEP
from django.http import HttpRequest
from django.urls import reverse
from django.utils.text import smart_split, unescape_string_literal

from fulfillment.core.plugins import SearchResult

# The limits of words, because each is a condition of the query, and of quotes, because splitting may read the rest of
# the text for each.
MAX_WORDS = MAX_QUOTES = 100
LOOKUPS = {"^": "istartswith", "=": "iexact"}
# Equal names rank first, then those that start with the text, then those that contain it.
EQUAL, BEGINS, CONTAINS = range(3)
MAX_PER_KIND = 5
# Rows that are read; the best of them are shown.
CANDIDATES = 50


def apply_search(records: QuerySet, fields: Iterable[str], text: str) -> QuerySet:
    """Searches as Django's admin, for the same `fields`.

    Names of related records are searched in their own tables first, because a join would scan all rows.
    """
    own: list[str] = []
    values_by_column: dict[str, list[str]] = defaultdict(list)
    for field in fields:
        prefix = field[0] if field[0] in LOOKUPS else ""
        relation, separator, name = field.removeprefix(prefix).partition(LOOKUP_SEP)
        if separator:
            values_by_column[relation].append(prefix + name)
        else:
            own.append(field)
    if text.count('"') + text.count("'") > MAX_QUOTES:
        return records.none()
    words = list(dict.fromkeys(smart_split(text)))
    if len(words) > MAX_WORDS:
        return records.none()
    for word in words:
        plain = unescape_string_literal(word) if word[0] in "\"'" and word[-1] == word[0] else word
        condition = _search_condition(own, plain)
        for relation, names in values_by_column.items():
            related: Any = records.model._meta.get_field(relation).related_model
            keys = related._base_manager.filter(_search_condition(names, plain)).values("pk")  # noqa: SLF001 - as above
            condition |= Q(**{f"{relation}__in": keys})
        records = records.filter(condition)
    return records


def _search_condition(fields: Iterable[str], word: str) -> Q:
    conditions = (
        Q(**{f"{field.lstrip('^=')}{LOOKUP_SEP}{LOOKUPS.get(field[0], 'icontains')}": word})
        for field in fields
    )
    return reduce(or_, conditions, Q(pk__in=()))


def visible_records(request: HttpRequest, model: type[Model]) -> QuerySet[Any]:
    """The records that the user sees in the model's list."""
    model_admin: Any = admin.site._registry[model]  # noqa: SLF001 - Django has no public way to a registered admin
    records: QuerySet[Any] = model_admin.get_queryset(request)
    return records if model_admin.has_module_permission(request) else records.none()


def match_rank(words: str, *names: str) -> int:
    searched, folded_names = words.casefold(), [name.casefold() for name in names]
    if searched in folded_names:
        return EQUAL
    return BEGINS if any(name.startswith(searched) for name in folded_names) else CONTAINS


def named_hits(
    request: HttpRequest,
    model: type[Model],
    words: str,
    fields: Sequence[str],
    names_of: Callable[[Any], Sequence[str]],
) -> list[SearchResult]:
    """Records with each word in one of `fields`; scans the table, so only for small ones."""
    records = apply_search(visible_records(request, model), fields, words)
    return record_hits(model, records[:CANDIDATES], words, names_of)


def record_hits(
    model: type[Model], records: Iterable[Any], words: str, names_of: Callable[[Any], Sequence[str]]
) -> list[SearchResult]:
    """The best results. The first name of a record is its title."""
    opts = model._meta
    hits = []
    for record in records:
        title, *details = names_of(record)
        address = reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[record.pk])
        detail = " · ".join(name for name in details if name)
        rank = match_rank(words, title, *details)
        hits.append(SearchResult(str(opts.verbose_name).capitalize(), title, detail, address, rank))
    return sorted(hits, key=lambda hit: hit.rank)[:MAX_PER_KIND]
