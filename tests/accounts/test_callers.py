from accounts.callers import Caller
from accounts.permissions import Permission


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

    assert [one.kind for one in (user, operator, application)] == ["user", "operator", "application"]
    assert user.key == f"user:{world.user.pk}"
    assert application.key == f"user:{world.application.user_id}", (
        "all applications of a person are one caller"
    )
    assert Caller(application_id=world.application.pk).key == f"application:{world.application.pk}"
    assert user.modes == (False, True)
