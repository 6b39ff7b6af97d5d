"""Every list of the portal pages and can be searched, or is short by a rule."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.core import paginator

from tests.support.browser.crawler import walk
from tests.support.browser.page_fixtures import furnish

SHORT = {
    "accounts/keys.html": "two keys",
    "applications/keys.html": "MAX_KEYS, and two of the subscription",
    "applications/overview.html": "four steps",
    "applications/webhooks.html": "MAX_WEBHOOKS",
    "delivery/mailing.html": "SAVED_SHOWN, the newest",
    "delivery/selection.html": "MAX_LISTED routes, with how many there are",
    "portal/home.html": "SHOWN_AT_START, with the way to all",
    "stores/batches/mapping.html": "the fields of a product and a recipient",
    "stores/directory/store.html": "REQUESTS_SHOWN, the newest",
    "stores/orders/order.html": "ITEMS_SHOWN, with how many more; EVENTS_SHOWN",
}
NOT_SEARCHED = {
    "stores/approvals/list.html": "one's own orders, the newest first",
    "accounts/notifications.html": "the newest of one's own, older on the next page",
    "applications/join.html": "one's own requests",
    "applications/requests.html": "a log: filtered, and older on the next page",
    "applications/webhook.html": "a log: by state, and older on the next page",
}
ROWS = re.compile(r'<ul class="rows[" ]')


def test_every_list_pages_and_is_searched_or_is_short_by_a_rule():
    """Where this fails a list was added: let it page, or name the rule that keeps it short."""
    folder = Path(settings.BASE_DIR, "templates")
    texts = {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*.html")}
    lists = {name: text for name, text in texts.items() if ROWS.search(text)}
    paged = {name for name, text in lists.items() if "portal/paging.html" in text or 'class="paging"' in text}

    assert lists.keys() - paged == set(SHORT)
    searched = re.compile(r'portal/search.html|role="search"')
    assert {name for name in paged if not searched.search(lists[name])} == set(NOT_SEARCHED)


@pytest.mark.slow
def test_list_that_is_longer_than_a_page_continues(world, browser, monkeypatch):
    make = paginator.Paginator.__init__
    monkeypatch.setattr(
        paginator.Paginator, "__init__", lambda self, records, size, *more, **named: make(self, records, 1)
    )
    furnish(world)
    long = set()

    for visit in walk(browser, ["/"], without=("/admin",)):
        for name, page in _pages_in(visit.response):
            if page.has_other_pages():
                long.add((visit.route, name))
                assert len(page.object_list) == 1, visit.path
                number = 1 if page.number == 2 else 2
                assert re.search(
                    rf'href="\?[^"]*\b(page|requests)={number}"', visit.response.content.decode()
                ), visit.path

    assert long >= {
        ("applications/<str:application_id>/owners", "page"),
        ("applications/<str:application_id>/stores", "requests"),
        ("profile/roles", "page"),
    }


def _pages_in(response) -> set[tuple[str, paginator.Page]]:
    layers = [layer for context in response.context or [] for layer in context]
    named = [item for layer in layers for item in layer.items()]
    return {(name, value) for name, value in named if isinstance(value, paginator.Page)}
