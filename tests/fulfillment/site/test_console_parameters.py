"""No ID, parameter or form of the console, however odd, is answered with an error of the service."""

from collections.abc import Iterable, Iterator

import pytest
from django.contrib import admin
from django.db import transaction
from lxml import html

from fulfillment.core.admin.base import ConsoleAdmin
from fulfillment.core.admin.lists import ConsoleList
from stores.catalog.models import Store
from tests.support.api.odd_requests import (
    PAGE_PARAMETERS,
    OddRequest,
    chosen,
    console_routes,
    odd_lists,
    odd_pages,
    odd_paths,
    odd_queries,
)
from tests.support.browser.console_pages import extra_pages, request_of
from tests.support.cases import cases
from tests.support.scenario import World

SAMPLED = 16
NOT_FILTERS = {"q", "p", "o", "e"}


def odd_records(world: World) -> Iterator[list[OddRequest]]:
    """Odd parameters of the pages of records that there are."""
    for page in {
        page.path.partition("?")[0]: page for pages in extra_pages(world).values() for page in pages
    }:
        yield from odd_queries(page, PAGE_PARAMETERS)


def failures(client, requests: Iterable[OddRequest]) -> list[str]:
    client.raise_request_exception = False
    failed = []
    for request in requests:
        # A statement that fails would end the transaction of the test.
        with transaction.atomic():
            response = (
                client.get(request.path) if request.sent is None else client.post(request.path, request.sent)
            )
            if response.streaming:
                b"".join(response)
            transaction.set_rollback(True)
        if response.status_code >= 500:
            failed.append(
                f"{request}: {response.exc_info[:2] if response.exc_info else response.status_code}"
            )
    return failed


def test_sample_of_odd_requests_is_no_error(world, client):
    client.force_login(world.operator)
    request = request_of(world.operator)

    groups = [*odd_paths(), *odd_lists(request), *odd_pages()]
    requests = list(chosen(groups[::SAMPLED], each=1))

    assert 200 < len(requests) < 600
    assert failures(client, requests) == []


@pytest.mark.slow
def test_no_odd_request_of_operators_is_an_error(furnished, client):
    client.force_login(furnished.operator)
    request = request_of(furnished.operator)

    requests = [
        *chosen(odd_paths(), each=1),
        *chosen(odd_lists(request), each=1),
        *chosen(odd_pages(), each=1),
        *chosen(list(odd_records(furnished))[::2], each=1),
    ]

    # With those of staff below, at least 5,000; the suite sends every sixth.
    assert len(requests) >= 4500
    assert failures(client, requests[:: cases(6, 1)]) == []


@pytest.mark.slow
def test_no_odd_request_of_staff_of_stores_is_an_error(furnished, client):
    person = furnished.user
    client.force_login(person)

    requests = list(chosen(odd_lists(request_of(person)), each=1))

    assert client.get("/admin/").status_code == 200
    assert len(requests) >= 500, len(requests)
    assert failures(client, requests[:: cases(6, 1)]) == []


@pytest.mark.parametrize(
    "query", ["_to_field=", "_to_field=x", "_popup=1&_to_field=", "_popup=&_to_field=id"]
)
def test_field_that_a_record_is_not_found_by_is_no_error(world, client, query):
    client.force_login(world.operator)

    response = client.get(f"/admin/accounts/user/{world.user.pk}/change/?{query}")

    assert response.status_code in {200, 400}


def test_every_list_knows_its_own_filters_alone(world, client):
    client.force_login(world.operator)
    others = [model for model, model_admin in admin.site._registry.items() if not _is_console(model_admin)]

    refused = client.get("/admin/stores/store/?budget_types=x", follow=True)

    assert others == []
    assert refused.redirect_chain == [("/admin/stores/store/?e=1", 302)]
    assert "This list has no filter “budget_types”." in refused.content.decode()


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("order/?status__exact=999", "The filter “status” does not know this value."),
        ("order/?created_from=2026-13-45", "The filter “created” does not know this value."),
        ("store/?is_demo__exact=x", "The filter “demo store” does not know this value."),
        ("store/?p=99", "This list has no page “99”."),
        ("order/?user__password__startswith=a", "This list has no such filter, or not with this value."),
    ],
)
def test_filter_names_itself_when_it_refuses_a_value(world, client, monkeypatch, query, message):
    monkeypatch.setattr(admin.site.get_model_admin(Store), "list_per_page", 1)
    client.force_login(world.operator)

    assert message in client.get(f"/admin/stores/{query}", follow=True).content.decode()


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("order/?status__exact=999", "Der Filter „Status“ kennt diesen Wert nicht."),
        ("order/?created_from=2026-13-45", "Der Filter „angelegt“ kennt diesen Wert nicht."),
        ("store/?p=99", "Diese Liste hat keine Seite „99“."),
        ("store/?budget_types=x", "Diese Liste hat keinen Filter „budget_types“."),
        (
            "order/?user__password__startswith=a",
            "Diese Liste hat keinen solchen Filter, oder nicht mit diesem Wert.",
        ),
    ],
)
def test_list_refuses_a_value_in_the_language_of_the_page(world, client, monkeypatch, query, message):
    monkeypatch.setattr(admin.site.get_model_admin(Store), "list_per_page", 1)
    client.force_login(world.operator)

    page = client.get(f"/admin/stores/{query}", follow=True, headers={"Accept-Language": "de"})

    assert f"{message} Alle Datensätze werden gezeigt." in page.content.decode()


def test_filters_left_open_keep_the_whole_list(world, client):
    client.force_login(world.operator)
    paths = [
        f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        for model, shown in admin.site._registry.items()
        if shown.has_view_permission(request_of(world.operator))
    ]

    offered = {path: _filters_offered(client.get(path)) for path in paths}

    assert {"status__exact", "due", "cancellation__exact", "delivery"} <= offered["/admin/stores/order/"]
    assert sum(map(bool, offered.values())) > 15
    for path, names in offered.items():
        assert client.get(path, dict.fromkeys(names, "")).status_code == 200, path


def test_id_that_names_no_record_is_not_found(world, client):
    client.force_login(world.operator)
    record = [
        route for route in console_routes() if route.endswith(("object_id>/change/", "object_id>/history/"))
    ]

    answers = {
        client.get(route.replace("<path:object_id>", odd)).status_code
        for route in record
        for odd in ("x", "9" * 30)
    }

    assert len(record) > 40
    assert answers == {404}


def _filters_offered(page) -> set[str]:
    forms = html.fromstring(page.content).xpath("//form[not(@method) or @method='get']")
    return {name for form in forms for name in form.xpath(".//input/@name | .//select/@name")} - NOT_FILTERS


def _is_console(model_admin) -> bool:
    return isinstance(model_admin, ConsoleAdmin) and issubclass(model_admin.get_changelist(None), ConsoleList)
