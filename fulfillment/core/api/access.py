"""Who may call an operation: one declaration that is enforced, documented and tested."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Access:
    """Declared on each view as `access = {action: Access(...)}`; an action without one is closed.

    `permissions`: the token must carry at least one of these scopes (an `All` scope includes its `Self`);
    whether the caller also holds it on the requested object is checked by the operation's selector.
    `third_party_scope`: what a user's token needs besides where it was issued to a third-party application, so that
    the consent page has named it.
    """

    rule: str
    is_for_applications: bool = True
    is_for_users: bool = True
    operator_only: bool = False
    permissions: tuple[str, ...] = ()
    subscription_key_required: bool = True
    third_party_scope: str = ""
