"""Sending a request from the reference: real answers, and no credential in any page."""

import json

import pytest
from django.test import Client
from oauth2_provider.models import AccessToken

from accounts.selectors.users import subscription_keys
from applications.oauth.pages.sending import is_dangerous
from applications.registration.models import Application
from fulfillment.core.reference.operations import operations
from tests.support.scenario import sign_in


@pytest.fixture
def browser(world):
    return sign_in(Client(), world.user)


def send(browser, operation_id, **fields):
    return browser.post(f"/send/{operation_id}", fields)


def test_read_is_answered_as_the_application_chosen(world, browser):
    page = send(browser, "store_read", caller=str(world.application.pk), **{"path-storeID": "associated"})
    response = page.context["answer"]

    assert (response.status, response.is_good) == (200, True)
    assert json.loads(response.text)["StoreID"] == "associated"
    assert response.milliseconds >= 1
    assert len(response.request_id) == 32
    assert dict(response.headers)["RateLimit"].startswith('"subscription"')
    refused = send(
        browser, "store_read", caller=str(world.application.pk), **{"path-storeID": "unassociated"}
    )
    assert json.loads(refused.context["answer"].text)["Code"] == "store_invalid"


def test_no_credential_reaches_the_page_and_the_token_ends(world, browser):
    before = AccessToken.objects.count()
    page = send(browser, "store_list", caller=str(world.application.pk)).content.decode()
    keys = subscription_keys(world.application.subscription).values()

    assert not any(key in page for key in keys)
    assert "sfa_" not in page
    assert AccessToken.objects.count() == before


def test_person_calls_as_themselves(world, browser):
    page = send(browser, "user_self", caller="me")

    assert json.loads(page.context["answer"].text)["Username"] == "user"


def test_only_own_applications_can_be_chosen(world, browser):
    page = send(browser, "store_list", caller=str(world.other_application.pk))

    assert page.context["answer"] is None
    assert page.context["form"].errors.keys() == {"caller"}


def test_writing_request_requires_the_password(world, browser, stolen):
    body = json.dumps({"Name": "Made by hand"})
    fields = {"caller": "me", "body": body}
    for page in (stolen.get("/send/application_create"), send(stolen, "application_create", **fields)):
        assert "Confirm that it is you" in page.content.decode()
    assert not Application.objects.filter(name="Made by hand").exists()

    page = send(browser, "application_create", **fields)

    assert page.context["answer"].status == 201
    assert Application.objects.get(name="Made by hand").user == world.user


def test_everything_that_changes_or_may_hold_keys_takes_the_password():
    free = {operation.id for operation in operations().values() if not is_dangerous(operation)}

    assert {name for name in free if operations()[name].method != "GET"} == {"proof_create", "quote_create"}
    assert not {"application_read", "application_list", "user_self", "association_list"} & free


@pytest.mark.parametrize("value", ["a/b", "a\x01b", "../order"])
def test_value_stays_in_its_place_of_the_path(world, browser, value):
    page = send(browser, "store_read", caller=str(world.application.pk), **{"path-storeID": value})

    assert page.context["answer"] is None
    assert "path-storeID" in page.context["form"].errors


def test_queries_lists_and_broken_bodies_arrive_as_typed(world, browser):
    response = send(
        browser, "order_exportview", caller="me", **{"path-storeID": "associated", "query-status": "10, 30"}
    )
    assert response.context["answer"].status == 200
    broken = send(browser, "quote_create", caller="me", body="{", **{"path-storeID": "demo"})
    assert json.loads(broken.context["answer"].text)["Code"] == "invalid_body"


def test_signed_out_visitors_are_sent_to_the_sign_in(client, db):
    response = client.get("/send/store_list")

    assert response.status_code == 302
    assert response["Location"].endswith("next=/send/store_list")
