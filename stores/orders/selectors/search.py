"""Finds orders by what a person knows of them: numbers, recipient, e-mail, place, product, parcel.

Each word must occur, in any order, without accents and case; words of letters are found by their beginning.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connection
from django.db.models import BooleanField, Exists, OuterRef, QuerySet
from django.db.models.expressions import RawSQL

from fulfillment.core.db.prepared import fetch_row
from fulfillment.core.text import parse_uuid
from stores.orders.models import Order, OrderSearch

MAX_LETTERS, MAX_WORDS = 200, 12
# The beginning of a word has so many letters, or matches too much; in other scripts each letter says more.
MIN_BEGINNING = 2
# Up to so many orders are found along the index. Of more only the newest are found: the words are so common that a
# walk back through the list meets such orders soon.
MAX_FOUND, MAX_NEWEST = 3000, 100
# Words that the statistics expect in more orders than this are looked for in so many of the newest first: the index
# would first list every order that has them.
COMMON, RECENT = 12_000, 10_000
# More stores in one query cost more time than they save.
MAX_STORES = 50
WORDS = "SELECT fulfillment_search_words(%s)"
FOUND = "SELECT ARRAY(SELECT fulfillment_find_orders(%s::tsquery, %s))"
EXPECTED = "EXPLAIN (FORMAT JSON) SELECT FROM stores_ordersearch WHERE words @@ %s::tsquery"
FOUND_RECENTLY = """
SELECT ARRAY(SELECT order_id FROM (
    SELECT order_id, words FROM stores_ordersearch ORDER BY order_id DESC LIMIT %s
) newest WHERE words @@ %s::tsquery ORDER BY order_id DESC LIMIT %s)
"""


@dataclass(frozen=True, slots=True)
class Found:
    orders: QuerySet[Order]
    # Whether older orders match too.
    is_cut: bool = False


def search_orders(
    orders: QuerySet[Order],
    text: str,
    *,
    stores: Collection[int] | None = None,
    application: UUID | None = None,
    user: UUID | None = None,
) -> Found:
    """The orders of `orders` that have every word of `text`; of more than MAX_FOUND, the newest.

    `stores`, `application` and `user` repeat what `orders` is limited to, so that the index leaves out the rest.
    """
    if key := parse_uuid(text.strip()):
        return Found(orders.filter(pk=key))
    if (words := _split_words(text)) is None:
        return Found(orders.none())
    query = " & ".join([*map(_make_term, words), *_list_scopes(stores, application, user)])
    if _expected_count(query) > COMMON:
        (recent,) = fetch_row(FOUND_RECENTLY, (RECENT, query, 10 * MAX_NEWEST)) or ([],)
        if (newest := _find_newest(orders, _with_ids(orders, recent))).is_cut:
            return newest
    (ids,) = fetch_row(FOUND, (query, MAX_FOUND + 1)) or ([],)
    if len(ids) <= MAX_FOUND:
        return Found(_with_ids(orders, ids))
    matching = RawSQL("words @@ %s::tsquery", (query,), output_field=BooleanField())
    is_found = Exists(OrderSearch.objects.filter(matching, order=OuterRef("pk")))
    # IDs rise with time, so this walks back through the table of words.
    return _find_newest(orders, orders.filter(is_found))


def _find_newest(orders: QuerySet[Order], matches: QuerySet[Order]) -> Found:
    newest = list(matches.order_by("-pk").values_list("pk", flat=True)[: MAX_NEWEST + 1])
    return Found(_with_ids(orders, newest[:MAX_NEWEST]), is_cut=len(newest) > MAX_NEWEST)


def _expected_count(query: str) -> int:
    """How many orders have the words, by the statistics of the table."""
    with connection.cursor() as cursor:
        cursor.execute(EXPECTED, [query])
        plan = cursor.fetchone()[0]
    rows: int = plan[0]["Plan"]["Plan Rows"]
    return rows


def _with_ids(orders: QuerySet[Order], ids: Sequence[UUID]) -> QuerySet[Order]:
    """The IDs as one parameter: thousands of them would take longer to read than the rows."""
    return orders.filter(pk__in=RawSQL("SELECT unnest(%s::uuid[])", (list(ids),)))


def _split_words(text: str) -> list[str] | None:
    """The words to find; None if there are none, or too many."""
    if len(text) > MAX_LETTERS:
        return None
    (words,) = fetch_row(WORDS, (text.replace("\0", " "),)) or ([],)
    return words if 0 < len(words) <= MAX_WORDS else None


def _make_term(word: str) -> str:
    """Numbers begin with #; their shorter forms are in the index."""
    is_beginning = not word.startswith("#") and (len(word) >= MIN_BEGINNING or not word.isascii())
    return f"'{word}':*" if is_beginning else f"'{word}'"


def _list_scopes(stores: Collection[int] | None, application: UUID | None, user: UUID | None) -> list[str]:
    terms = [f"'={kind}{key}'" for kind, key in (("a", application), ("u", user)) if key]
    if stores and len(stores) <= MAX_STORES:
        alternatives = " | ".join(f"'=s{store}'" for store in stores)
        terms.append(f"({alternatives})")
    return terms
