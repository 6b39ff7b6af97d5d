"""Enforces the access that each operation declares; operations without a declaration are closed."""

from typing import Any

from rest_framework.exceptions import NotAcceptable
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from accounts.callers import Caller
from accounts.permissions import Permission
from fulfillment.core.api.access import Access
from fulfillment.core.api.errors import InsufficientScope
from fulfillment.core.errors import Forbidden


class DeclaredAccess(BasePermission):
    def has_permission(self, request: Request, view: Any) -> bool:
        action = getattr(view, "action", None)
        # Methods that are not allowed are refused next; OPTIONS reveals only the methods.
        if action in {None, "metadata"}:
            return True
        access: Access | None = view.access.get(action)
        if access is None:
            return False
        check_access(access, request.auth)
        if getattr(request, "nothing_acceptable", False):
            raise NotAcceptable
        return True


def check_access(access: Access, caller: Caller) -> None:
    """Checks the kind of caller first, then the scopes of its token."""
    if caller.is_application and not access.is_for_applications:
        raise Forbidden("Applications cannot use this operation; a user must.", code="closed_to_applications")
    if not caller.is_application and not access.is_for_users:
        raise Forbidden("Only applications can use this operation.", code="closed_to_users")
    if access.operator_only and not caller.is_operator_user:
        raise Forbidden("This operation is reserved to operators of the service.", code="operator_only")
    if access.operator_only and not caller.is_operator:
        raise InsufficientScope("The access token lacks the scope Operator.", scopes=(Permission.OPERATOR,))
    if (
        access.third_party_scope
        and caller.third_party_id is not None
        and not caller.is_application
        and access.third_party_scope not in caller.scopes
    ):
        raise InsufficientScope(
            f"Through a third-party application this needs the scope {access.third_party_scope}.",
            scopes=(access.third_party_scope,),
        )
    if access.permissions and caller.scopes.isdisjoint(access.permissions) and not caller.is_operator:
        scopes = " or ".join(access.permissions)
        raise InsufficientScope(f"The access token needs the scope {scopes}.", scopes=access.permissions)
