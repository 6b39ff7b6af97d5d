"""The clock of a machine jumps by hours against that of the database: what holds, and what only moves."""

from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.utils import timezone
from oauth2_provider.models import RefreshToken

from accounts.services.two_factor import check_second_step, enable_two_factor, generate_secret_key
from applications.webhooks.models import Delivery
from applications.webhooks.selectors.deliveries import alive_workers
from applications.webhooks.sending.sender import Sender
from applications.webhooks.services.delivery_attempts import claim_due_deliveries
from fulfillment.core.db.prepared import DatabaseClock, database_now
from fulfillment.core.errors import Conflict
from fulfillment.operations.retention import all_retention_rules, prune
from stores.orders.models import Order
from tests.factories.accounts import UserFactory
from tests.factories.applications import ApplicationFactory
from tests.factories.orders import make_product, order_body
from tests.factories.webhooks import make_event, make_webhook
from tests.support.accounts.oauth_flows import Party, is_alive
from tests.support.accounts.two_factor import code_of

pytestmark = pytest.mark.django_db

BACK, AHEAD = timedelta(hours=-3), timedelta(hours=3)


def jumped(by: timedelta):
    return time_machine.travel(timezone.now() + by)


@pytest.mark.parametrize("by", [BACK, AHEAD])
def test_repeated_order_is_answered_again_and_not_made_twice(world, by):
    make_product(world.associated)

    def order():
        return world.as_application().call(
            "POST", "/store/associated/order", order_body(), headers={"Idempotency-Key": "once"}
        )

    first = order()
    with jumped(by):
        again = order()

    assert (again.status_code, again.json()) == (201, first.json())
    assert again["Idempotent-Replayed"] == "true"
    assert Order.objects.count() == 1


@pytest.mark.parametrize(("by", "status"), [(BACK, 201), (AHEAD, 409)])
def test_quote_binds_as_long_as_the_machine_says_that_was_requested(world, by, status):
    make_product(world.associated)
    client = world.as_application()
    requested = {"Items": order_body()["Items"], "ShipTo": {"CountryCode": "US"}}
    quote = client.call("POST", "/store/associated/quote", requested).json()
    chosen = {"QuoteID": quote["QuoteID"], "OptionID": quote["Options"][0]["OptionID"]}

    # Quotes bind for longer than hours.
    with jumped(by * 24 * 5):
        response = world.as_application().call("POST", "/store/associated/order", order_body(**chosen))

    assert response.status_code == status
    assert status == 201 or response.json()["Code"] == "quote_expired"


@pytest.fixture
def party() -> Party:
    made = Party(ApplicationFactory(confidential=True))
    # Keys begin by the clock of the machine as well.
    made.application.keys.update(start_date=timezone.now() - timedelta(days=1))
    return made


@pytest.mark.parametrize("by", [BACK, AHEAD])
def test_code_and_refresh_token_work_once_at_any_clock(party, by):
    user = UserFactory()
    code = party.code_for(user)
    old = party.redeem(code).json()
    new = party.refresh(old["refresh_token"]).json()

    with jumped(by):
        assert party.redeem(code).status_code == 400
        assert party.refresh(old["refresh_token"]).status_code == 400

    # Either is a theft: what came of them has ended.
    assert not is_alive(new["access_token"])
    assert not RefreshToken.objects.filter(revoked__isnull=True).exists()


def test_code_is_valid_by_the_clock_of_the_machine(party):
    code = party.code_for(UserFactory())

    with jumped(AHEAD):
        assert party.redeem(code).status_code == 400


def test_used_step_is_not_accepted_again_when_the_clock_was_set_back(world):
    key = generate_secret_key()
    with jumped(AHEAD):
        enable_two_factor(user=world.user, key=key, code=code_of(key))
        used = code_of(key, 30)
        assert check_second_step(user=world.user, code=used)

    with jumped(AHEAD):
        assert not check_second_step(user=world.user, code=used)
    assert not check_second_step(user=world.user, code=code_of(key))


@pytest.mark.parametrize("by", [BACK, AHEAD])
def test_workers_are_heard_of_by_the_clock_of_the_database(client, by):
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO procrastinate_workers DEFAULT VALUES")

    with jumped(by):
        assert alive_workers() == 1
        assert client.get("/readyz?only=worker").status_code == 200
        assert "the clock of this machine is" in client.get("/readyz").json()["checks"]["clock"]


@pytest.mark.parametrize("by", [BACK, AHEAD])
def test_deliveries_are_due_and_held_by_the_clock_of_the_database(world, by):
    webhook = make_webhook(world.application)
    make_event(world.application)
    sender = Sender(client=None)
    with jumped(by):
        sender._due()
        (taken,) = claim_due_deliveries(webhook_id=webhook.pk, limit=9, now=sender._clock.now())
        held = Delivery.objects.get(pk=taken.delivery_id).next_try
        others = Sender(client=None)._due()

    assert timedelta(seconds=30) < held - database_now() <= timedelta(seconds=40)
    assert others == []


def test_clock_continues_from_the_databases_while_its_own_jumps():
    clock = DatabaseClock()
    clock.set()

    with jumped(AHEAD):
        assert abs(clock.now() - database_now()) < timedelta(seconds=5)


@pytest.mark.parametrize("by", [BACK, AHEAD, timedelta(days=400)])
def test_nothing_is_pruned_by_a_clock_that_is_not_the_databases(world, by):
    client = world.as_application()
    client.call("GET", "/store")
    before = {rule.name: rule.count() for rule in all_retention_rules()}

    with jumped(by), pytest.raises(Conflict, match="minutes apart; nothing is pruned"):
        prune()

    assert {rule.name: rule.count() for rule in all_retention_rules()} == before
