"""What is left of the budgets is on the page of a product, before anything is asked or pressed."""

import pytest

from accounts.models import Role
from tests.factories.budgets import enable_budgets, make_budget
from tests.support.orders.shop import open_shop
from tests.support.pages import text
from tests.support.scenario import sign_in

pytestmark = pytest.mark.django_db
PAGE = "/catalog/associated/card"


@pytest.fixture
def shop(world, client):
    shop = open_shop(world)
    enable_budgets(world.associated)
    for grant in ("Store.Self.Read", "Order.Self.Write"):
        Role.objects.create(user=world.outsider, store=world.associated, grant=grant)
    sign_in(client, world.outsider)
    return shop


def test_person_sees_what_is_left_of_every_budget_that_binds_them(shop, client):
    person = shop.world.outsider
    make_budget(shop.store, Limit=50)
    own = {"Kind": "User", "ID": str(person.pk)}
    make_budget(shop.store, Name="Own", Scope=own, Type="Orders", Limit=1, OverBudget="Warn")
    foreign = {"Kind": "User", "ID": str(shop.world.user.pk)}
    make_budget(shop.store, Name="Foreign", Scope=foreign, Limit=0)
    shop.place(shop.world.as_user(person))
    shop.place(shop.world.as_user(person))

    page = text(client.get(PAGE))

    assert "<b>26.00 USD left</b> of 50.00 USD" in page
    assert "<b>1 order over</b> the limit of 1 order" in page
    assert "Foreign" not in page


def test_page_names_no_budget_where_none_binds(shop, client):
    make_budget(shop.store, Limit=50)
    assert "budgets-left" in text(client.get(PAGE))
    shop.store.budget_enabled = False
    shop.store.save()
    assert "budgets-left" not in text(client.get(PAGE))
