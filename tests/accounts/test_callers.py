from accounts.callers import Caller
from accounts.permissions import Permission


def test_caller_of_a_page_is_the_user_with_every_scope(world):
    for user, is_operator in ((world.user, False), (world.operator, True)):
        caller = Caller.on_pages(user)

        assert (caller.user_id, caller.tenant_id) == (user.pk, user.tenant_id)
        assert (caller.is_operator_user, caller.is_operator) == (is_operator, is_operator)
        assert (caller.is_first_party, caller.is_application, caller.third_party_id) == (True, False, None)
        assert caller.scopes == set(Permission.values)
