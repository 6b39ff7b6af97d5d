"""The access check of an operation, called directly; the access matrix tests that every operation has one."""

from types import SimpleNamespace
from uuid import uuid4

import pytest
from rest_framework.exceptions import NotAcceptable

from accounts.api.declared_access import DeclaredAccess, check_access
from accounts.callers import Caller
from accounts.permissions import Permission
from fulfillment.core.api.access import Access
from fulfillment.core.api.errors import InsufficientScope
from fulfillment.core.errors import Forbidden

READ, WRITE, OPERATOR = Permission.ORDER_ALL_READ, Permission.ORDER_ALL_WRITE, Permission.OPERATOR
USER = Caller(user_id=uuid4())
APPLICATION = Caller(application_id=uuid4())


def may(action, access, caller=USER, **request) -> bool:
    view = SimpleNamespace(access=access, **({} if action == "missing" else {"action": action}))
    return DeclaredAccess().has_permission(SimpleNamespace(auth=caller, **request), view)


def test_undeclared_operation_is_closed():
    assert not may("list", {})
    assert not may("list", {"retrieve": Access("A rule.")})


@pytest.mark.parametrize("action", [None, "metadata", "missing"])
def test_unknown_action_is_left_to_the_dispatch(action):
    assert may(action, {})


def test_operation_is_open_to_the_declared_callers():
    assert may("list", {"list": Access("A rule.")})
    assert may("list", {"list": Access("A rule.")}, nothing_acceptable=False)
    with pytest.raises(NotAcceptable):
        may("list", {"list": Access("A rule.")}, nothing_acceptable=True)


@pytest.mark.parametrize(
    ("access", "caller", "code", "message"),
    [
        (
            Access("A rule.", is_for_applications=False),
            APPLICATION,
            "closed_to_applications",
            "Applications cannot use this operation; a user must.",
        ),
        (
            Access("A rule.", is_for_users=False),
            USER,
            "closed_to_users",
            "Only applications can use this operation.",
        ),
        (
            Access("A rule.", operator_only=True),
            Caller(user_id=uuid4(), scopes=frozenset({OPERATOR})),
            "operator_only",
            "This operation is reserved to operators of the service.",
        ),
    ],
)
def test_wrong_kind_of_caller_is_refused_with_the_allowed_kinds(access, caller, code, message):
    with pytest.raises(Forbidden) as refused:
        check_access(access, caller)

    assert (refused.value.code, refused.value.message) == (code, message)


@pytest.mark.parametrize(
    ("access", "caller", "scopes", "message"),
    [
        (
            Access("A rule.", operator_only=True),
            Caller(user_id=uuid4(), is_operator_user=True),
            (OPERATOR,),
            "The access token lacks the scope Operator.",
        ),
        (
            Access("A rule.", permissions=(READ, WRITE)),
            USER,
            (READ, WRITE),
            f"The access token needs the scope {READ} or {WRITE}.",
        ),
    ],
)
def test_missing_scope_is_named(access, caller, scopes, message):
    with pytest.raises(InsufficientScope) as refused:
        check_access(access, caller)

    assert (refused.value.scopes, refused.value.message) == (scopes, message)


def test_one_of_the_scopes_or_an_operator_is_enough():
    check_access(
        Access("A rule.", permissions=(READ, WRITE)), Caller(user_id=uuid4(), scopes=frozenset({WRITE}))
    )
    operator = Caller(user_id=uuid4(), is_operator_user=True, scopes=frozenset({OPERATOR}))
    check_access(Access("A rule.", permissions=(READ,), operator_only=True), operator)
