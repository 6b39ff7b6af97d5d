"""The checklist of an application ticks itself, from what the application has really done."""

import re
from html import unescape

import pytest

from accounts.callers import Caller
from accounts.models import Role
from applications.registration.services.applications import create_application
from applications.registration.services.usage import flush_usage
from applications.webhooks.services.webhooks import create_webhook
from tests.factories.orders import card_data, make_card, order_body


def done(browser, application) -> list[str]:
    page = browser.get(f"/applications/{application.pk}").content.decode()
    titles = re.findall(r'class="is-done">.*?rows-title">([^<]+)<', page, re.DOTALL)
    return [unescape(title).strip() for title in titles]


@pytest.mark.parametrize("is_test", [False, True])
def test_every_step_is_ticked_when_it_is_done(world, signed_in, is_test):
    make_card(world.demo, "card")
    browser = signed_in(world.outsider)
    application = create_application(
        caller=Caller.on_pages(world.outsider),
        values={"Name": "Newcomer", "Keys": [{}], "IsTest": is_test},
    )
    assert done(browser, application) == ["Create the application"]

    caller = world.as_application(application)
    assert done(browser, application)[1:] == ["Get a first token"]
    caller.call("GET", "/store/demo")
    flush_usage()
    assert done(browser, application)[2:] == ["Read a store's products"]
    assert caller.call("POST", "/store/demo/product/card/proof", card_data()).status_code == 200
    assert done(browser, application)[3:] == ["Make a first proof"]
    create_webhook(application=application, values={"URL": "https://93.184.216.34/hooks"})
    item = {"ProductID": "card", "Quantity": 100, "TemplateData": card_data()}
    assert caller.call("POST", "/store/demo/order", order_body(Items=[item])).status_code == 201
    assert done(browser, application)[4:] == ["Receive a first event", "Place a first order"]
    start = browser.get("/").content.decode()
    assert "6 of 7 done" in start
    Role.objects.create(application=application, store=world.associated, grant="Store.Self.Read")
    assert "Get started" not in browser.get(f"/applications/{application.pk}").content.decode()
    assert "Get started" not in browser.get("/").content.decode()


def test_name_is_enough_for_an_application(world, browser):
    response = browser.post("/applications/new", {"name": "Only A Name", "with_key": "on"}, follow=True)
    public = browser.post("/applications/new", {"name": "In The Browser"}, follow=True)

    assert "Only A Name created." in response.content.decode()
    assert response.context["application"].keys.count() == 1
    assert public.context["application"].client_type == "public"
