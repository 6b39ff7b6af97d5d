"""No query of a list or search of the console is answered with an error of the service.

The lists are those of the registry, their parameters those of Django's lists and of each list's own filters.
"""

from collections.abc import Iterable, Iterator
from urllib.parse import urlencode

import pytest
from django.db import transaction
from django.urls import reverse

from tests.support.console_pages import admins_of, apps_of_console, own_pages, request_of
from tests.support.scenario import World

pytestmark = pytest.mark.slow

HUGE = "9" * 30
NUMBERS = ("x", "0", "-1", "\0", "\u0663", HUGE, "nan")
WORDS = ("\0", "%", "\\", "'", "(", "1 " * 800, HUGE, "\U0001f389\ufffe")
# Of every list; the values of each are sent one by one, and all at once.
OF_LISTS = {
    "p": NUMBERS,
    "page": ("x", HUGE),
    "o": ("x", "99", "1.1.-", "..", HUGE, "\0"),
    "q": WORDS,
    "all": ("x",),
    "_popup": ("x",),
    "_to_field": ("x", "\0"),
    "_facets": ("True",),
    "_changelist_filters": ("p=x&q=%00",),
    "pk__in": ("x,,", "," * 500),
    "id__exact": ("x", "\0", HUGE),
    "nonsense": ("1",),
    "pk__nonsense": ("1",),
    "pk__regex": ("(",),
    "user__password__startswith": ("a",),
    "__": ("1",),
    "\0": ("1",),
}
LOOKUPS = ("", "__exact", "__gte", "__in", "__isnull", "__id__exact")
OF_FILTERS = ("x", "\0", HUGE)
SEARCHED = ("order", "a", "\0", "%", "x" * 3000, " ", "(")


def addresses(place: str, parameters: dict[str, tuple[str, ...]]) -> Iterator[str]:
    for name, values in parameters.items():
        for value in values:
            yield f"{place}?{urlencode({name: value})}"
        yield f"{place}?{urlencode([(name, value) for value in values])}"
    yield f"{place}?q=%ff%fe&p=%80"


def filters_of(model_admin, request) -> set[str]:
    """The names its filters read, by their fields or of their own."""
    names = set(model_admin.get_list_filter(request)) | {model_admin.date_hierarchy}
    found = set()
    for one in names - {None}:
        named = one[0] if isinstance(one, tuple | list) else one
        found.add(named if isinstance(named, str) else getattr(named, "parameter_name", ""))
    return found - {"", None}


def sample(places: Iterable[str], number: int) -> list[str]:
    """All lists share one mechanism: each is tried with a twelfth of the values, and all lists with all values."""
    return list(places)[number % 12 :: 12]


def list_addresses(user) -> Iterator[str]:
    request, number = request_of(user), 0
    for app in apps_of_console():
        for name, model_admin in admins_of(app):
            if not model_admin.has_module_permission(request):
                continue
            place = reverse(f"admin:{name}_changelist")
            number += 1
            yield from sample(addresses(place, OF_LISTS), number)
            fields = sorted(filters_of(model_admin, request))
            filters = {f"{field}{lookup}": OF_FILTERS for field in fields for lookup in LOOKUPS}
            yield from sample(addresses(place, filters), number)
            pages = ("change", "delete", "history") if model_admin.keeps_trail else ("change", "delete")
            records = [
                reverse(f"admin:{name}_{page}", args=[record])
                for record in ("x", "\0", HUGE)
                for page in pages
            ]
            yield from sample(records, number)


def site_addresses() -> Iterator[str]:
    search = reverse("admin:search")
    yield from addresses(search, {"s": SEARCHED})
    for extended in ("", "&extended=1"):
        yield from addresses(f"{search}", {"page": NUMBERS})
        for page in NUMBERS:
            yield f"{search}?s=order{extended}&{urlencode({'page': page})}"
    requested = dict.fromkeys(("person", "kind", "action", "from", "to", "object"), WORDS)
    yield from addresses(
        reverse("admin:audit_log"), {**requested, "after": (*NUMBERS, "9999-12-31T23:59:59-12:00|x|1")}
    )
    choose = reverse("admin:autocomplete")
    whole = {"app_label": "stores", "model_name": "order", "field_name": "store"}
    yield from addresses(choose, {"term": WORDS, **dict.fromkeys(whole, ("x", "\0", ""))})
    for name, values in {"term": WORDS, "page": NUMBERS, **dict.fromkeys(whole, ("x", "\0", ""))}.items():
        for value in values:
            yield f"{choose}?{urlencode({**whole, name: value})}"
    yield from addresses(reverse("admin:index"), {"page": NUMBERS, "store": NUMBERS, "days": NUMBERS})


def own_page_addresses(world: World) -> Iterator[str]:
    odd = dict.fromkeys(
        ("id", "postal_code", "page", "p", "q", "before", "store", "includeTest"), ("x", "\x00", HUGE)
    )
    number = 0
    for pages in own_pages(world).values():
        for page in pages:
            number += 1
            yield from sample(addresses(page.path.partition("?")[0], odd), number)


def failures(client, places: Iterator[str]) -> list[str]:
    client.raise_request_exception = False
    failed = []
    for place in places:
        # A statement that fails would end the transaction of the test.
        with transaction.atomic():
            answer = client.get(place)
            transaction.set_rollback(True)
        if answer.status_code >= 500:
            failed.append(
                f"{place[:160]}: {answer.exc_info[0].__name__ if answer.exc_info else answer.status_code}"
            )
    return failed


def test_no_parameter_of_a_list_or_search_is_an_error_for_operators(furnished, client):
    client.force_login(furnished.operator)

    places = [*list_addresses(furnished.operator), *site_addresses(), *own_page_addresses(furnished)]

    assert len(places) > 400
    assert failures(client, places) == []


def test_no_parameter_of_a_list_or_search_is_an_error_for_staff_of_stores(furnished, client):
    person = furnished.user
    client.force_login(person)

    # Half of what is the same for everybody.
    places = [*list_addresses(person), *[*site_addresses(), *own_page_addresses(furnished)][::2]]

    assert client.get("/admin/").status_code == 200
    assert failures(client, places) == []
