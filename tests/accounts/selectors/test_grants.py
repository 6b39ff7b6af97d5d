"""Which roles count for whom, read from the database."""

import pytest

from accounts.callers import Caller
from accounts.models import Role
from accounts.permissions import (
    APPLICATION_GRANTS,
    DEFAULT_STORE_GRANTS,
    STORE_GRANTS,
    Permission,
    add_implied,
)
from accounts.selectors.grants import grants_on_application, grants_on_store

SCOPES = add_implied(Permission.values)
ALL_ORDERS = {"Order.All.Read", "Order.Self.Read"}


@pytest.fixture(autouse=True)
def no_roles(world):
    Role.objects.all().delete()


def caller(user=None, application=None, **more) -> Caller:
    return Caller(
        user_id=user and user.pk, application_id=application and application.pk, scopes=SCOPES, **more
    )


def on_page(user) -> Caller:
    return caller(user, is_first_party=True)


def test_role_counts_for_its_person_on_its_store(world):
    Role.objects.create(user=world.user, store=world.associated, grant="Order.All.Read")

    assert grants_on_store(on_page(world.user), world.associated) == ALL_ORDERS
    assert grants_on_store(on_page(world.user), world.unassociated) == frozenset()
    assert grants_on_store(on_page(world.outsider), world.associated) == frozenset()


def test_role_over_everything_counts_on_every_store_and_application(world):
    for grant in ("Order.All.Read", "Application.All.Write"):
        Role.objects.create(user=world.user, grant=grant)

    assert grants_on_store(on_page(world.user), world.unassociated) == ALL_ORDERS
    assert grants_on_application(on_page(world.user), world.other_application.pk) == {
        "Application.All.Write",
        "Application.Self.Write",
    }
    assert grants_on_application(on_page(world.outsider), world.other_application.pk) == frozenset()


def test_association_counts_for_its_application_on_its_store(world):
    Role.objects.create(application=world.application, store=world.associated, grant="Order.All.Read")

    assert grants_on_store(caller(application=world.application), world.associated) == ALL_ORDERS
    assert grants_on_store(caller(application=world.application), world.unassociated) == frozenset()
    assert grants_on_store(caller(application=world.other_application), world.associated) == frozenset()
    assert grants_on_store(caller(world.user, world.application), world.associated) == frozenset()


def test_user_of_an_application_has_the_intersection_of_grants(world):
    Role.objects.create(application=world.application, store=world.associated, grant="Order.Self.Read")
    Role.objects.create(user=world.user, store=world.associated, grant="Order.All.Read")

    assert grants_on_store(caller(world.user, world.application), world.associated) == {"Order.Self.Read"}
    assert grants_on_store(caller(world.user, world.other_application), world.associated) == frozenset()
    assert grants_on_store(caller(world.outsider, world.application), world.associated) == frozenset()
    assert grants_on_store(caller(application=world.application), world.associated) == {"Order.Self.Read"}


def test_persons_role_on_an_application_grants_no_access_to_store(world):
    Role.objects.create(user=world.user, application=world.application, grant="Order.All.Read")

    assert grants_on_store(on_page(world.user), world.associated) == frozenset()
    assert grants_on_store(caller(application=world.application), world.associated) == frozenset()


def test_demo_store_gives_what_an_ordinary_association_gives(world):
    for each in (
        on_page(world.user),
        caller(application=world.application),
        caller(world.user, world.application),
    ):
        assert grants_on_store(each, world.demo) == set(DEFAULT_STORE_GRANTS)
        assert grants_on_store(each, world.associated) == frozenset()


def test_operator_needs_no_role_and_requests_none(world, django_assert_num_queries):
    operator = caller(world.operator, is_operator_user=True, is_first_party=True)

    with django_assert_num_queries(0):
        assert grants_on_store(operator, world.associated) == STORE_GRANTS
        assert grants_on_application(operator, world.application.pk) == APPLICATION_GRANTS


def test_role_on_an_application_counts_there_only(world):
    Role.objects.create(user=world.user, application=world.application, grant="Application.Self.Write")

    assert grants_on_application(on_page(world.user), world.application.pk) == {"Application.Self.Write"}
    assert grants_on_application(on_page(world.user), world.other_application.pk) == frozenset()
    assert grants_on_application(on_page(world.outsider), world.application.pk) == frozenset()
    assert grants_on_application(caller(world.user, world.application), world.application.pk) == {
        "Application.Self.Write"
    }
    assert (
        grants_on_application(caller(world.user, world.application), world.other_application.pk)
        == frozenset()
    )


def test_association_of_an_application_is_no_role_on_it(world):
    Role.objects.create(application=world.application, store=world.associated, grant="Application.All.Write")
    Role.objects.create(user=world.user, store=world.associated, grant="Application.All.Write")

    assert grants_on_application(on_page(world.user), world.application.pk) == frozenset()


def test_role_on_an_application_in_a_store_is_none_on_the_application(world):
    Role.objects.create(
        user=world.user, application=world.application, store=world.associated, grant="Application.All.Write"
    )

    assert grants_on_application(on_page(world.user), world.application.pk) == frozenset()


def test_application_reads_itself_and_no_other(world):
    alone = caller(application=world.application)

    assert grants_on_application(alone, world.application.pk) == {"Application.Self.Read"}
    assert grants_on_application(alone, world.other_application.pk) == frozenset()
    first_party = caller(application=world.console, is_first_party=True)
    assert grants_on_application(first_party, world.application.pk) == frozenset()


def test_token_bounds_what_roles_grant_on_an_application(world):
    Role.objects.create(user=world.user, application=world.application, grant="Application.Self.Write")
    bounded = Caller(user_id=world.user.pk, is_first_party=True, scopes=frozenset({"Application.Self.Read"}))
    alone = Caller(application_id=world.application.pk, scopes=frozenset({"Store.Self.Read"}))

    assert grants_on_application(bounded, world.application.pk) == frozenset()
    assert grants_on_application(alone, world.application.pk) == frozenset()


def test_grant_on_stores_grants_no_access_to_application(world):
    Role.objects.create(user=world.user, application=world.application, grant="Store.Self.Read")

    assert grants_on_application(on_page(world.user), world.application.pk) == frozenset()
