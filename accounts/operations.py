"""Offers what `fulfillment.operations` and the audit trail use of this app (docs/architecture.md)."""

from collections.abc import Iterator
from datetime import timedelta

from django.contrib.sessions.models import Session
from django.core.checks import CheckMessage, Error, Info
from django.db import Error as DatabaseError
from django.db import ProgrammingError
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.demo import demo_refusal, demo_sign_ins_left, refuse_demo_sign_ins
from accounts.models import (
    AssociationRequest,
    Authenticator,
    EmailChange,
    IdempotentResponse,
    Notification,
    RateWindow,
    RequestLease,
    SubscriptionKey,
    User,
)
from accounts.selectors.users import find_user
from accounts.services.idempotency import RETENTION
from accounts.services.notifications import RETENTION as NOTIFICATION_RETENTION
from accounts.services.personal_data import personal_data
from accounts.services.users import ensure_default_tenant
from fulfillment.core.audit.personal_data import ErasureOptions
from fulfillment.core.audit.retention import RetentionRule, rule_for_rows
from fulfillment.core.errors import Conflict, in_one_line
from fulfillment.core.secrets import StoredSecret

__all__ = ["find_user", "personal_data"]

ERASABLE = {
    "accounts.UserEvent": ("username", "first_name", "last_name", "email", "phone"),
    "accounts.AssociationRequestEvent": ("message", "note"),
}
# Digests of idempotency keys are not rotated: the keys themselves are not stored, and the digests expire in a day.
STORED_SECRETS = (
    StoredSecret("subscription keys", SubscriptionKey),
    StoredSecret("authenticators", Authenticator, digest=None),
    StoredSecret("idempotent responses", IdempotentResponse, ciphertext="body", digest=None),
)
# The longest window is a day.
RATE_WINDOW_RETENTION = timedelta(hours=25)


def before_start() -> None:
    refuse_demo_sign_ins()


def after_migrations() -> None:
    ensure_default_tenant()


def deployment_checks() -> Iterator[CheckMessage]:
    try:
        sign_ins = demo_sign_ins_left()
    except ProgrammingError:
        yield Info("The database has no tables of this release yet: run prepare.", id="fulfillment.I002")
        return
    except DatabaseError as error:
        yield Info(
            f"The database did not answer, so nothing in it was checked: {in_one_line(error)}",
            id="fulfillment.I003",
        )
        return
    if sign_ins:
        yield Error(demo_refusal(sign_ins), id="fulfillment.E011")


def begin_erasure(user: User, options: ErasureOptions) -> None:
    other_operators = User.objects.filter(is_operator=True, is_active=True).exclude(pk=user.pk)
    if user.is_operator and not other_operators.exists():
        raise Conflict(_("This is the last operator; make another one first."), code="last_operator")


def retention_rules() -> list[RetentionRule]:
    return [
        rule_for_rows(
            "idempotent responses",
            lambda: IdempotentResponse.objects.filter(created__lte=timezone.now() - RETENTION),
        ),
        rule_for_rows("request leases", lambda: RequestLease.objects.filter(until__lte=timezone.now())),
        rule_for_rows("e-mail changes", lambda: EmailChange.objects.filter(expires__lte=timezone.now())),
        rule_for_rows(
            "rate windows",
            lambda: RateWindow.objects.filter(started__lte=timezone.now() - RATE_WINDOW_RETENTION),
        ),
        rule_for_rows(
            "notifications",
            lambda: Notification.objects.filter(created__lte=timezone.now() - NOTIFICATION_RETENTION),
        ),
        # Notifications name them, which are removed after the same time.
        rule_for_rows("decided association requests", _superseded_requests),
        rule_for_rows("sessions", lambda: Session.objects.filter(expire_date__lte=timezone.now())),
    ]


def _superseded_requests() -> QuerySet[AssociationRequest]:
    """The last decision between an application and a store or user stays: a repeated request finds it."""
    same = Q(store=OuterRef("store")) | Q(user=OuterRef("user"))
    later = AssociationRequest.objects.filter(
        same, application=OuterRef("application"), decided__gt=OuterRef("decided")
    )
    return AssociationRequest.objects.filter(
        Exists(later), decided__lte=timezone.now() - NOTIFICATION_RETENTION
    )
