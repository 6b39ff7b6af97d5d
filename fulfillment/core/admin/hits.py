"""Search results among the records that the user may see."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse

from fulfillment.core.admin.offers import Hit
from fulfillment.core.admin.search import apply_search

# Equal names rank first, then those that start with the text, then those that contain it.
EQUAL, BEGINS, CONTAINS = range(3)
MAX_PER_KIND = 5
# Rows that are read; the best of them are shown.
CANDIDATES = 50


def visible_records(request: HttpRequest, model: type[Model]) -> QuerySet[Any]:
    """The records that the user sees in the model's list."""
    model_admin: Any = admin.site._registry[model]  # noqa: SLF001 - Django has no public way to a registered admin
    records: QuerySet[Any] = model_admin.get_queryset(request)
    return records if model_admin.has_module_permission(request) else records.none()


def match_rank(words: str, *names: str) -> int:
    searched, known = words.casefold(), [name.casefold() for name in names]
    if searched in known:
        return EQUAL
    return BEGINS if any(name.startswith(searched) for name in known) else CONTAINS


def named_hits(
    request: HttpRequest,
    model: type[Model],
    words: str,
    fields: Sequence[str],
    names_of: Callable[[Any], Sequence[str]],
) -> list[Hit]:
    """Records with each word in one of `fields`; scans the table, so only for small ones."""
    found = apply_search(visible_records(request, model), fields, words)
    return record_hits(model, found[:CANDIDATES], words, names_of)


def record_hits(
    model: type[Model], records: Iterable[Any], words: str, names_of: Callable[[Any], Sequence[str]]
) -> list[Hit]:
    """The best results. The first name of a record is its title."""
    opts = model._meta
    hits = []
    for record in records:
        title, *others = names_of(record)
        address = reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[record.pk])
        detail = " · ".join(name for name in others if name)
        rank = match_rank(words, title, *others)
        hits.append(Hit(str(opts.verbose_name).capitalize(), title, detail, address, rank))
    return sorted(hits, key=lambda hit: hit.rank)[:MAX_PER_KIND]
