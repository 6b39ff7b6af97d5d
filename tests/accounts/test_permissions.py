"""Who may do what: the rules by themselves, every combination that decides something."""

from uuid import uuid4

import pytest

from accounts.api.declared_access import check_access
from accounts.callers import Caller
from accounts.permissions import (
    APPLICATION_GRANTS,
    DEFAULT_APPLICATION_GRANTS,
    DEFAULT_SCOPES,
    DEFAULT_STORE_GRANTS,
    GRANTS,
    STORE_GRANTS,
    Permission,
    add_implied,
)
from accounts.selectors.grants import effective_store_grants, grants_on_application
from fulfillment.core.api.access import Access
from fulfillment.core.api.errors import InsufficientScope
from fulfillment.core.errors import Forbidden

SCOPES = add_implied(Permission.values)
USER, APPLICATION = uuid4(), uuid4()
PERSON = Caller(user_id=USER, application_id=APPLICATION, scopes=SCOPES)
ON_PAGES = Caller(user_id=USER, is_first_party=True, scopes=SCOPES)
ALONE = Caller(application_id=APPLICATION, scopes=SCOPES - {"Operator"})
OPERATOR = Caller(user_id=USER, is_operator_user=True, is_first_party=True, scopes=SCOPES)
READ = {"Store.Self.Read", "Order.Self.Read"}


def granted(caller, associated=(), held=(), is_demo=False):
    return effective_store_grants(caller, associated=associated, held=held, is_demo=is_demo)


def test_groups_of_grants():
    assert (
        set(GRANTS) == STORE_GRANTS | APPLICATION_GRANTS == set(Permission.values) - {"Account", "Operator"}
    )
    assert (len(STORE_GRANTS), len(APPLICATION_GRANTS)) == (8, 4)
    assert STORE_GRANTS.isdisjoint(APPLICATION_GRANTS)
    assert set(DEFAULT_SCOPES) == {name for name in set(GRANTS) if ".Self." in name}
    assert set(DEFAULT_STORE_GRANTS) == {"Store.Self.Read", "Order.Self.Read", "Order.Self.Write"}
    assert DEFAULT_APPLICATION_GRANTS == ("Application.Self.Read",)


def test_all_means_also_the_callers_own():
    assert add_implied(["Order.All.Read"]) == {"Order.All.Read", "Order.Self.Read"}
    assert add_implied(["Order.Self.Read"]) == {"Order.Self.Read"}
    assert add_implied([]) == frozenset()


def test_kinds_of_callers():
    assert ALONE.is_application
    assert not PERSON.is_application
    assert (PERSON.third_party_id, ON_PAGES.third_party_id) == (APPLICATION, None)
    assert OPERATOR.is_operator
    assert not PERSON.is_operator
    assert not Caller(user_id=USER, is_operator_user=True, scopes=SCOPES - {"Operator"}).is_operator
    assert not Caller(user_id=USER, scopes=SCOPES).is_operator


def test_user_through_an_application_has_what_both_have():
    assert granted(PERSON, READ, {"Order.All.Read"}) == {"Order.Self.Read"}
    assert granted(PERSON, {"Order.All.Read"}, {"Order.All.Read"}) == {"Order.All.Read", "Order.Self.Read"}
    assert granted(PERSON, READ, ()) == frozenset()
    assert granted(PERSON, (), READ) == frozenset()


def test_user_on_pages_has_the_grants_of_the_person():
    assert granted(ON_PAGES, (), READ) == READ
    assert granted(ON_PAGES, READ, ()) == frozenset()


def test_application_alone_has_what_its_association_has():
    assert granted(ALONE, READ, ()) == READ
    assert granted(ALONE, (), READ) == frozenset()


def test_token_bounds_everything():
    bounded = Caller(application_id=APPLICATION, scopes=frozenset({"Order.Self.Read"}))

    assert granted(bounded, STORE_GRANTS, ()) == {"Order.Self.Read"}
    assert granted(bounded, (), (), is_demo=True) == {"Order.Self.Read"}


def test_demo_store_grants_the_usual_to_everyone():
    for caller in (PERSON, ON_PAGES, ALONE):
        assert granted(caller, is_demo=True) == set(DEFAULT_STORE_GRANTS)
        assert granted(caller, is_demo=False) == frozenset()
    assert granted(ALONE, {"Order.All.Read"}, (), is_demo=True) > set(DEFAULT_STORE_GRANTS)


def test_no_role_on_a_store_opens_applications():
    assert granted(ON_PAGES, (), set(GRANTS)) == STORE_GRANTS


def test_operator_may_do_all_of_a_kind():
    assert granted(OPERATOR) == STORE_GRANTS
    assert grants_on_application(OPERATOR, uuid4()) == APPLICATION_GRANTS


def test_third_party_application_grants_no_access_to_other_application():
    assert grants_on_application(PERSON, uuid4()) == frozenset()


ACCESSES = {
    "users": Access(
        rule="of the test", is_for_users=True, is_for_applications=False, permissions=("Order.All.Read",)
    ),
    "applications": Access(
        rule="of the test", is_for_users=False, is_for_applications=True, permissions=("Order.All.Read",)
    ),
    "operators": Access(
        rule="of the test", is_for_users=True, is_for_applications=False, operator_only=True, permissions=()
    ),
    "either": Access(
        rule="of the test",
        is_for_users=True,
        is_for_applications=True,
        permissions=("Order.All.Read", "Order.Self.Read"),
    ),
}
POOR = Caller(user_id=USER, scopes=frozenset({"Store.Self.Read"}))


@pytest.mark.parametrize(
    ("access", "caller"),
    [
        ("users", PERSON),
        ("applications", ALONE),
        ("operators", OPERATOR),
        ("either", ALONE),
        ("either", PERSON),
    ],
)
def test_access_that_fits_is_let_through(access, caller):
    assert check_access(ACCESSES[access], caller) is None


@pytest.mark.parametrize(
    ("access", "caller", "error", "code", "words"),
    [
        ("users", ALONE, Forbidden, "closed_to_applications", "a user must"),
        ("operators", ALONE, Forbidden, "closed_to_applications", "a user must"),
        ("applications", PERSON, Forbidden, "closed_to_users", "Only applications"),
        ("operators", PERSON, Forbidden, "operator_only", "reserved to operators"),
        ("either", POOR, InsufficientScope, "insufficient_scope", "scope Order.All.Read or Order.Self.Read."),
    ],
)
def test_access_that_does_not_fit_is_refused_by_name(access, caller, error, code, words):
    with pytest.raises(error) as refused:
        check_access(ACCESSES[access], caller)

    assert refused.value.code == code
    assert words in refused.value.message


def test_operator_without_the_scope_is_refused_with_its_name():
    half = Caller(user_id=USER, is_operator_user=True, scopes=SCOPES - {"Operator"})

    with pytest.raises(InsufficientScope, match="lacks the scope Operator"):
        check_access(ACCESSES["operators"], half)


def test_operator_needs_no_other_scope():
    bare = Caller(user_id=USER, is_operator_user=True, scopes=frozenset({"Operator"}))

    assert check_access(ACCESSES["either"], bare) is None
