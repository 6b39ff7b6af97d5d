"""The console by the registry of its site: each page opens, leads nowhere dead, and asks before it destroys.

The tests in a browser examine the same pages.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib import admin
from django.db import connection
from django.test.signals import template_rendered
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from delivery.datasets.models import ImportRun
from fulfillment.core.admin import inlines
from fulfillment.core.admin.base import ConsoleAdmin
from stores.orders.admin.orders import FINAL
from tests.support.browser.console_pages import (
    ACTIONS_AT_ONCE,
    ACTS_AT_ONCE,
    NO_PAGE,
    NO_PAGE_OF_SITE,
    ConsolePage,
    admins_of,
    apps_of_console,
    extra_pages,
    own_addresses,
    pages_of,
    pages_of_site,
    request_of,
)
from tests.support.browser.crawler import dead_fragments, walk
from tests.support.browser.pseudo import plain_texts
from tests.support.scenario import World, sign_in

pytestmark = pytest.mark.slow

# A product that one may only read.
STAFF_ONLY = {"admin/stores/product/parts.html"}
# One of them counts the page, and three list the choices of the filters of orders.
MAX_QUERIES = 14
# Every page is counted in a minute.
WRITES = re.compile(r"\s*(INSERT INTO (?!accounts_ratewindow)|UPDATE|DELETE FROM)", re.IGNORECASE)
OURS = [Path(settings.BASE_DIR, "templates", folder) for folder in ("admin", "unfold")]


@pytest.fixture
def rendered() -> Iterator[set[str]]:
    """Names of every template that is rendered meanwhile."""
    names: set[str] = set()

    def note(template, **more) -> None:
        names.add(template.name)

    template_rendered.connect(note)
    yield names
    template_rendered.disconnect(note)


def all_pages(world: World, user) -> list[ConsolePage]:
    return [page for app in apps_of_console() for page in pages_of(app, world, user)]


def test_every_page_opens_with_few_queries_and_no_broken_link(
    furnished, client, rendered, pseudo, sources, monkeypatch
):
    # What is shown where a list to choose from would be too long is to be seen as well.
    monkeypatch.setattr(inlines, "MAX_SUGGESTIONS", 1)
    sign_in(client, furnished.operator)
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = pseudo
    # The time zones of the stores are read once a minute, by whichever page is the first then.
    client.get("/admin/")
    pages = [*pages_of_site(furnished.operator), *all_pages(furnished, furnished.operator)]
    addresses = [page.path for page in pages if page.sent is None]

    visits = list(walk(client, ["/admin/"], examples=addresses, below="/admin/", most_names=1))
    answers = [(page.path, client.post(page.path, page.sent)) for page in pages if page.sent is not None]

    assert [path for path, response in answers if response.status_code != 200] == []
    seen = {visit.path: (visit.response.status_code, len(visit.queries)) for visit in visits}
    # Other addresses for what the portal has, and for an upload that is to be prepared first.
    sent_on = {path.partition("?")[0] for path, (status, _) in seen.items() if status == 302}
    uploaded = ImportRun.objects.get(state="uploaded").pk
    assert sent_on <= {"/admin/password_change/", f"/admin/delivery/importrun/{uploaded}/change/"}
    assert {path: status for path, (status, _) in seen.items() if status not in {200, 302}} == {}
    assert {path: count for path, (_, count) in seen.items() if count > MAX_QUERIES} == {}
    assert dead_fragments(client, visits) == set()
    files = {str(file.relative_to(folder.parent)) for folder in OURS for file in folder.rglob("*.html")}
    assert files - rendered == STAFF_ONLY
    # Only developers see the components.
    shown = [(visit.path, visit.response) for visit in visits if visit.path != reverse("admin:components")]
    assert plain_texts(shown + answers, sources) == ""


def test_staff_of_a_store_open_what_they_see(furnished, client, rendered):
    sign_in(client, furnished.user)
    pages = all_pages(furnished, furnished.user)
    addresses = [page.path for page in pages if page.sent is None]

    visits = list(walk(client, ["/admin/"], examples=addresses, below="/admin/", most_names=1))

    seen = {visit.path: visit.response.status_code for visit in visits}
    assert {path: status for path, status in seen.items() if status not in {200, 302}} == {}
    assert [path for path, status in seen.items() if status == 302] == ["/admin/password_change/"]
    assert {visit.path for visit in visits if len(visit.queries) > MAX_QUERIES} == set()
    assert dead_fragments(client, visits) == set()
    assert len(visits) > 15
    assert rendered >= STAFF_ONLY


def test_every_address_has_an_example_or_a_reason(furnished):
    """Where this fails, a page was added: name an example in tests/support/browser/console_pages.py."""
    examples = set(extra_pages(furnished))
    addresses = {
        address
        for app in apps_of_console()
        for model_admin in admins_of(app)
        for address in own_addresses(*model_admin)
    }

    assert addresses == examples | ACTS_AT_ONCE.keys() | NO_PAGE.keys()
    assert not examples & (ACTS_AT_ONCE.keys() | NO_PAGE.keys())
    of_site = {pattern.name for pattern in admin.site.get_urls() if getattr(pattern, "name", None)}
    assert (
        of_site
        == {"index", "app_list", "search", "audit_log", "system", "components"} | NO_PAGE_OF_SITE.keys()
    )
    request = request_of(furnished.operator)
    for model, model_admin in admin.site._registry.items():
        assert model_admin.get_queryset(request).exists(), f"The furnished world has no {model._meta.label}."


def test_every_form_is_confirmed_or_exempt_with_a_reason(furnished, client):
    sign_in(client, furnished.operator)
    pages = [page for page in all_pages(furnished, furnished.operator) if page.asks]
    own = {address: examples[0] for address, examples in extra_pages(furnished).items()}

    for page in pages:
        with CaptureQueriesContext(connection) as queries:
            response = client.get(page.path) if page.sent is None else client.post(page.path, page.sent)
        text = response.content.decode()
        assert response.status_code == 200, page
        assert 'name="confirmed"' in text or 'name="post"' in text, page
        assert [query["sql"] for query in queries if WRITES.match(query["sql"])] == [], page

    # What takes nothing but a POST either is among the pages that ask or is named with its reason.
    for address, example in own.items():
        if client.get(example.path).status_code == 405:
            assert example.asks, f"{address} acts without asking."
    actions = {
        name
        for model_admin in admin.site._registry.values()
        for name in model_admin.get_actions(_with_query(furnished.operator))
    }
    assert ACTIONS_AT_ONCE.keys() <= actions
    assert {
        page.name.removeprefix("order to ") for page in pages if page.name.startswith("order to ")
    } == set(FINAL)


def test_every_list_is_searched_paged_and_shows_more_than_names(furnished):
    request = request_of(furnished.operator)

    for model, model_admin in admin.site._registry.items():
        assert isinstance(model_admin, ConsoleAdmin), model
        assert model_admin.get_search_fields(request), f"{model._meta.label} cannot be searched."
        assert model_admin.search_help_text, f"{model._meta.label} does not say what is searched."
        assert len(model_admin.get_list_display(request)) > 2, model
        assert model_admin.list_per_page <= 50, model
        assert model_admin.list_max_show_all == 0, model
        assert model_admin.show_full_result_count is False, model
        assert hasattr(model_admin.get_paginator(request, model.objects.none(), 25), "is_bounded"), model


def test_list_that_is_longer_than_a_page_continues(furnished, client, monkeypatch):
    sign_in(client, furnished.operator)
    for _, model_admin in (each for app in apps_of_console() for each in admins_of(app)):
        monkeypatch.setattr(model_admin, "list_per_page", 1)
        address = reverse(f"admin:{model_admin.opts.app_label}_{model_admin.opts.model_name}_changelist")
        changelist = client.get(address, {"p": 2}).context["cl"]
        if changelist.result_count > 1:
            assert len(changelist.result_list) == 1, address
            assert changelist.result_list[0].pk != changelist.queryset.first().pk, address
        monkeypatch.undo()


def _with_query(user):
    request = request_of(user)
    request.GET = {}
    return request
