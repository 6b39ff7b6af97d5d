"""The search of the console's lists: each word must occur in a name of the record or of a related one."""

from collections import defaultdict
from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.constants import LOOKUP_SEP
from django.utils.text import smart_split, unescape_string_literal

# The limit of words, because each is a condition of the query.
MAX_WORDS = 100
LOOKUPS = {"^": "istartswith", "=": "iexact"}


def apply_search(records: QuerySet, fields: Iterable[str], text: str) -> QuerySet:
    """As Django's admin searches, for the same `fields`.

    Names of related records are searched in their own tables first, because a join would scan all rows.
    """
    own: list[str] = []
    others: dict[str, list[str]] = defaultdict(list)
    for field in fields:
        prefix = field[0] if field[0] in LOOKUPS else ""
        relation, separator, name = field.removeprefix(prefix).partition(LOOKUP_SEP)
        if separator:
            others[relation].append(prefix + name)
        else:
            own.append(field)
    words = list(dict.fromkeys(smart_split(text)))
    if len(words) > MAX_WORDS:
        return records.none()
    for word in words:
        plain = unescape_string_literal(word) if word[0] in "\"'" and word[-1] == word[0] else word
        found = _named(own, plain)
        for relation, names in others.items():
            related: Any = records.model._meta.get_field(relation).related_model
            keys = related._base_manager.filter(_named(names, plain)).values("pk")  # noqa: SLF001 - as above
            found |= Q(**{f"{relation}__in": keys})
        records = records.filter(found)
    return records


def _named(fields: Iterable[str], word: str) -> Q:
    conditions = (
        Q(**{f"{field.lstrip('^=')}{LOOKUP_SEP}{LOOKUPS.get(field[0], 'icontains')}": word})
        for field in fields
    )
    return reduce(or_, conditions, Q(pk__in=()))
