from django.utils import timezone

from accounts.callers import Caller
from accounts.permissions import Permission
from applications.registration.services.applications import create_application
from stores.batches.models import Batch
from stores.batches.selectors.callers import caller_of
from tests.factories.accounts import UserFactory


def test_caller_of_a_page_is_the_user_with_every_scope(world):
    for user, is_operator in ((world.user, False), (world.operator, True)):
        caller = Caller.on_pages(user)

        assert (caller.user_id, caller.tenant_id) == (user.pk, user.tenant_id)
        assert (caller.is_operator_user, caller.is_operator) == (is_operator, is_operator)
        assert (caller.is_first_party, caller.is_application, caller.third_party_id) == (True, False, None)
        assert caller.scopes == set(Permission.values)


def test_caller_of_an_application_has_its_mode_and_every_scope_but_the_operators(world):
    for is_test in (False, True):
        world.application.is_test = is_test

        caller = Caller.of_application(world.application)

        assert (caller.application_id, caller.third_party_id) == (world.application.pk, world.application.pk)
        assert (caller.user_id, caller.is_application, caller.is_operator) == (None, True, False)
        assert (caller.is_first_party, caller.modes) == (False, (is_test,))
        assert caller.scopes == set(Permission.values) - {Permission.OPERATOR}


def test_callers_are_named_apart_in_limits_and_metrics(world):
    user, operator = Caller.on_pages(world.user), Caller.on_pages(world.operator)
    application = Caller.of_application(world.application)

    assert [caller.kind for caller in (user, operator, application)] == ["user", "operator", "application"]
    assert user.key == f"user:{world.user.pk}"
    assert application.key == f"user:{world.application.user_id}", (
        "all applications of a person are one caller"
    )
    assert Caller(application_id=world.application.pk).key == f"application:{world.application.pk}"
    assert user.modes == (False, True)


def test_unconfirmed_account_is_one_caller_with_the_person_who_made_it(world):
    user = UserFactory(tenant=world.tenant, email_confirmed=None, counted_on=world.user)
    application = create_application(caller=Caller.on_pages(user), values={"Name": "Of the account"})
    batches = Batch(user=user, is_first_party=True), Batch(application=application, is_first_party=False)

    def keys():
        callers = [Caller.on_pages(user), Caller.of_application(application), *map(caller_of, batches)]
        return {caller.key for caller in callers}

    assert keys() == {f"user:{world.user.pk}"}
    user.email_confirmed = application.user.email_confirmed = timezone.now()
    assert keys() == {f"user:{user.pk}"}
