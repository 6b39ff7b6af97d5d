"""The caller of a request: all that services and selectors know of it."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Q

from accounts.permissions import Permission, add_implied


@dataclass(frozen=True, slots=True)
class Caller:
    """A user acting through an application or, without a user, an application acting on its own.

    `application_id` is None only on the service's own pages. `scopes` include implied ones. With `is_test` the caller
    uses a test application, so everything it creates is test data. `person_id` answers for an application without a
    user, its owner, and for an account that is not confirmed, the person who made it.
    """

    user_id: UUID | None = None
    tenant_id: int | None = None
    is_operator_user: bool = False
    application_id: UUID | None = None
    is_first_party: bool = False
    is_test: bool = False
    scopes: frozenset[str] = field(default=frozenset())
    subscription_id: int | None = None
    person_id: UUID | None = field(default=None, compare=False)

    @property
    def is_application(self) -> bool:
        return self.user_id is None

    @property
    def key(self) -> str:
        """Names the caller in concurrency limits: the person with all of their applications, where there is one."""
        person = self.person_id or self.user_id
        return f"user:{person}" if person else f"application:{self.application_id}"

    @property
    def kind(self) -> str:
        """A label for metrics."""
        if self.is_application:
            return "application"
        return "operator" if self.is_operator_user else "user"

    @property
    def is_operator(self) -> bool:
        return self.is_operator_user and Permission.OPERATOR in self.scopes

    @property
    def modes(self) -> tuple[bool, ...]:
        """The values of `is_test` that the caller may see.

        An application sees records of its own mode only. Built-in applications see both, because a user may own
        applications of both modes.
        """
        return (False, True) if self.is_first_party else (self.is_test,)

    @property
    def third_party_id(self) -> UUID | None:
        """The application whose association limits this caller; None where only the user's own grants count."""
        return None if self.is_first_party else self.application_id

    @property
    def sees_names(self) -> bool:
        """Whether responses name people to the caller: a third-party application needs the scope for it."""
        return self.third_party_id is None or Permission.ACCOUNT in self.scopes

    @classmethod
    def of_application(cls, application: Any) -> "Caller":
        """The application itself, on the service's own pages: for users who may change it, and so hold its keys."""
        return cls(
            application_id=application.pk,
            person_id=application.user and application.user.responsible_id,
            is_test=application.is_test,
            scopes=add_implied(name for name in Permission.values if name != Permission.OPERATOR),
        )

    @classmethod
    def who_made(cls, record: Any) -> "Caller":
        """The user and application of an order or quote, in its mode: sees the pictures and proofs it was made with."""
        return cls(user_id=record.user_id, application_id=record.application_id, is_test=record.is_test)

    @classmethod
    def on_pages(cls, user: Any) -> "Caller":
        """The caller of a signed-in browser session: the user through the service itself."""
        return cls(
            user_id=user.pk,
            tenant_id=user.tenant_id,
            is_operator_user=user.is_operator,
            is_first_party=True,
            person_id=user.responsible_id,
            scopes=add_implied(Permission.values),
        )


def in_mode(caller: Caller, field: str = "is_test") -> Q:
    """A filter for records of the modes visible to the caller.

    `field` leads to the mode of the record, as `application__is_test`. Never combine it with `|`: an empty Q would
    have no effect.
    """
    return Q() if len(caller.modes) > 1 else Q(**{field: caller.modes[0]})


def usable_in_mode(caller: Caller) -> Q:
    """A filter for records that a new record of the caller may use: those of the same mode."""
    return Q(is_test=caller.is_test)
