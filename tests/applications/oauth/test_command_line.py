"""The application of `fulfillment login` gives the subscription key, and each person reads their own events there."""

import pytest
from django.db import transaction

from accounts.demo import USER
from accounts.models import Subscription
from accounts.selectors.users import subscription_keys
from accounts.services.subscriptions import primary_key_of_user
from applications.demo import load_demo
from applications.operations import after_migrations
from applications.registration.models import Application
from applications.registration.services.applications import COMMAND_LINE_ID, ensure_command_line
from applications.webhooks.event_types import EventType
from applications.webhooks.services.events import record_event
from fulfillment.core.plugins import DemoRun
from tests.factories.accounts import UserFactory
from tests.factories.applications import ApplicationFactory, issue_token
from tests.support.accounts.oauth_flows import Party, browser_of
from tests.support.patience import wait_for

PORT = "http://127.0.0.1:50123/callback"


@pytest.fixture
def party(db) -> Party:
    after_migrations()
    return Party(Application.objects.get(client_id=COMMAND_LINE_ID))


def test_sign_in_gives_the_subscription_key_of_the_person(party, user):
    code = party.code_for(user, redirect_uri=PORT)
    first = party.redeem(code, redirect_uri=PORT).json()
    keys = subscription_keys(Subscription.objects.get(user=user))

    assert first["subscription_key"] == keys["primary"]
    assert party.refresh(first["refresh_token"]).json()["subscription_key"] == keys["primary"]


def test_account_without_a_subscription_gets_one(party, user):
    Subscription.objects.filter(user=user).delete()
    key = party.sign_in(user)["subscription_key"]
    assert key in subscription_keys(Subscription.objects.get(user=user)).values()


def test_service_with_demo_data_has_the_application(user):
    """`make run` migrates and loads the demo, and never runs `prepare`."""
    load_demo(DemoRun(people={USER.username: user}))

    assert Party(Application.objects.get(client_id=COMMAND_LINE_ID)).sign_in(user)["subscription_key"]


@pytest.mark.parametrize("kind", ["confidential", "public"])
def test_other_applications_get_no_subscription_key(request, user, kind):
    assert "subscription_key" not in request.getfixturevalue(kind).sign_in(user)


def test_own_first_party_application_gets_no_subscription_key(user):
    assert "subscription_key" not in Party(ApplicationFactory(first_party=True)).sign_in(user)


def test_consent_says_that_the_key_is_used(party, user):
    page = party.ask(browser_of(user), redirect_uri=PORT).content.decode()
    assert "Use your subscription key" in page


@pytest.mark.parametrize("address", ["http://127.0.0.1:50123/other", "https://evil.example/callback"])
def test_sign_in_comes_back_to_this_machine_alone(party, user, address):
    assert party.ask(browser_of(user), redirect_uri=address).status_code == 400


def record(application: Application, user, number: str) -> None:
    with transaction.atomic():
        record_event(
            application_id=application.pk,
            store_id="demo",
            type=EventType.ORDER_RECEIVED,
            data={"OrderNumber": number},
            user_id=user.pk if user else None,
        )


def numbers(client, user, application: Application) -> list[str]:
    headers = {
        "Authorization": f"Bearer {issue_token(user, application)}",
        "Ocp-Apim-Subscription-Key": primary_key_of_user(user_id=user.pk),
    }
    response = client.get(f"/api/v1/application/{application.client_id}/event", headers=headers)
    assert response.status_code == 200, response.content
    return [event["Data"]["OrderNumber"] for event in response.json()]


@pytest.mark.django_db(transaction=True)
def test_each_person_reads_their_own_events(client, user):
    command_line, other = ensure_command_line(), UserFactory()
    for number, person in (("1", user), ("2", other), ("3", None), ("4", user)):
        record(command_line, person, number)

    # A transaction of a neighbor may hold them back for a moment.
    wait_for(lambda: numbers(client, user, command_line) == ["1", "4"])
    wait_for(lambda: numbers(client, other, command_line) == ["2"])
