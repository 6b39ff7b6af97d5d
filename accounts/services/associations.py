"""Requests for roles and associations, decisions on them, and the mail to operators, sent by a worker."""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from procrastinate.contrib.django import app

from accounts.callers import Caller
from accounts.mail import send_templated_mail
from accounts.models import AssociationRequest, AssociationState, Role, User
from accounts.permissions import (
    APPLICATION_GRANTS,
    DEFAULT_APPLICATION_GRANTS,
    DEFAULT_STORE_GRANTS,
    STORE_GRANTS,
)
from accounts.selectors.associations import association_request_for, operators_to_inform
from fulfillment.core.errors import Busy, Conflict, Forbidden, Invalid
from fulfillment.core.plugins import offered_values

APPLICANT = ("requested_by_id", "application_id")
REQUEST_TASK = "accounts.mail_association_request"
# More than these in an hour are seen in the console alone. Of one applicant only so many count: one must neither fill
# the mailboxes nor keep the requests of others out of them.
MAILED_PER_HOUR, MAILED_PER_APPLICANT = 20, 5
# Withdrawn and repeated requests stay on record, and each is one that operators read.
MAX_REQUESTS_PER_DAY = 500
ADMITTED_NOTE = "The store admits test applications."


def inform_operators(request: AssociationRequest) -> None:
    """Queues the mails in the transaction that writes the request."""
    lately = AssociationRequest.objects.filter(created__gt=timezone.now() - timedelta(hours=1))
    # The user, or the application where it acts on its own.
    applicants = Counter(user or application for user, application in lately.values_list(*APPLICANT))
    own = applicants[request.requested_by_id or request.application_id]
    mailed = sum(min(count, MAILED_PER_APPLICANT) for count in applicants.values())
    if own > MAILED_PER_APPLICANT or mailed > MAILED_PER_HOUR:
        return
    task = app.configure_task(REQUEST_TASK)
    for operator in operators_to_inform():
        task.defer(request_id=str(request.pk), user_id=str(operator.pk))


def send_association_mail(*, request_id: str, user_id: str) -> None:
    """Sends the mail unless the request was decided in the meantime."""
    requests = AssociationRequest.objects.select_related("application", "store", "user", "requested_by")
    association_request = requests.filter(pk=request_id, state=AssociationState.PENDING).first()
    operator = User.objects.filter(pk=user_id, is_operator=True, is_active=True).exclude(email="").first()
    if association_request is not None and operator is not None:
        send_templated_mail(
            "accounts/mails/association_request.txt",
            operator.email,
            {"association_request": association_request},
            language=operator.language,
        )


@transaction.atomic
def request_association(
    *,
    caller: Caller,
    application: Any,
    store: Any = None,
    user_id: Any = None,
    grants: Sequence[str] = (),
    message: str = "",
) -> tuple[AssociationRequest, bool]:
    """The pending request and whether this call made it; a second request while one is pending changes nothing.

    Of a test application it is approved at once where the store lets test applications in.
    """
    check_grants(grants, for_store=store is not None)
    is_admitted = _is_admitted(application, store, grants)
    if is_admitted and (approved := _approved_before(application, store, grants)):
        return approved, False
    # Of two simultaneous requests, the unique index on pending requests accepts one.
    pending = AssociationRequest.objects.filter(
        application=application, store=store, user=user_id, state=AssociationState.PENDING
    )
    if earlier := pending.first():
        return earlier, False
    _refuse_too_many(caller, application)
    try:
        with transaction.atomic():
            created = AssociationRequest.objects.create(
                application=application,
                store=store,
                user_id=user_id,
                requested_by_id=caller.user_id,
                grants=list(dict.fromkeys(grants)),
                message=message,
            )
            inform_operators(created)
    except IntegrityError as error:
        if earlier := pending.first():
            return earlier, False
        raise Busy(_("The other request was just decided or withdrawn. Send this one again.")) from error
    if is_admitted:
        _approve(created, list(grants) or _usual_grants(created), decided_by=None, note=ADMITTED_NOTE)
    return created, True


def _refuse_too_many(caller: Caller, application: Any) -> None:
    """Limits the requests of a user, or of an application that acts on its own: never those of others for it."""
    own: dict[str, Any] = {"requested_by": caller.user_id}
    if caller.user_id is None:
        own["application"] = application
    lately = AssociationRequest.objects.filter(**own, created__gt=timezone.now() - timedelta(days=1))
    if not caller.is_operator and lately.count() >= MAX_REQUESTS_PER_DAY:
        message = _(
            "At most %(max_requests)s requests are accepted from one applicant in 24 hours; try again tomorrow."
        )
        raise Conflict(message % {"max_requests": MAX_REQUESTS_PER_DAY}, code="too_many_associations")


@transaction.atomic
def approve_association(
    *, caller: Caller, request_id: Any, grants: Sequence[str] | None = None, note: str = ""
) -> AssociationRequest:
    """Approves and writes the roles: `grants` if present, else the requested ones, else the default ones."""
    require_operator(caller)
    request = _get_pending_request(caller, request_id)
    approved_grants = list(grants) if grants else list(request.grants) or _usual_grants(request)
    check_grants(approved_grants, for_store=request.store_id is not None)
    _approve(request, approved_grants, decided_by=caller.user_id, note=note)
    return request


def _approve(request: AssociationRequest, grants: list[str], *, decided_by: Any, note: str) -> None:
    Role.objects.bulk_create(
        [
            Role(
                application_id=request.application_id,
                store_id=request.store_id,
                user_id=request.user_id,
                grant=grant,
            )
            for grant in dict.fromkeys(grants)
        ],
        ignore_conflicts=True,
    )
    request.grants = grants
    _decide(request, AssociationState.APPROVED, decided_by=decided_by, note=note)
    _notify_apps(request)


def _notify_apps(request: AssociationRequest) -> None:
    """Calls `association_decided` of each app in the transaction of the decision; an exception undoes the decision."""
    for association_decided in offered_values("association_requests", "association_decided"):
        association_decided(request=request)


@transaction.atomic
def deny_association(*, caller: Caller, request_id: Any, note: str = "") -> AssociationRequest:
    require_operator(caller)
    request = _get_pending_request(caller, request_id)
    _decide(request, AssociationState.DENIED, decided_by=caller.user_id, note=note)
    _notify_apps(request)
    return request


@transaction.atomic
def withdraw_association(*, caller: Caller, request_id: Any) -> AssociationRequest:
    request = _get_pending_request(caller, request_id)
    _decide(request, AssociationState.WITHDRAWN, decided_by=caller.user_id, note="")
    return request


def require_operator(caller: Caller) -> None:
    if not caller.is_operator:
        raise Forbidden(_("Only operators decide about association requests."), code="operator_only")


def check_grants(grants: Sequence[str], *, for_store: bool) -> None:
    allowed = STORE_GRANTS if for_store else APPLICATION_GRANTS
    unknown = [grant for grant in grants if grant not in allowed]
    if unknown:
        names = ", ".join(sorted(allowed))
        raise Invalid.at(
            "/Grants",
            "grant_unknown",
            _("Grants contains %(unknown)s; allowed: %(allowed)s.")
            % {"unknown": ", ".join(unknown), "allowed": names},
        )


def _usual_grants(request: AssociationRequest) -> list[str]:
    return list(DEFAULT_STORE_GRANTS if request.store_id else DEFAULT_APPLICATION_GRANTS)


def _get_pending_request(caller: Caller, request_id: Any) -> AssociationRequest:
    request = association_request_for(caller, request_id, lock=True)
    if request.state != AssociationState.PENDING:
        raise Conflict(
            _("The request is already decided: it is %(state)s.") % {"state": request.state},
            code="association_already_decided",
        )
    return request


def _is_admitted(application: Any, store: Any, grants: Sequence[str]) -> bool:
    """Whether a test application is approved at once: only for the default grants; an operator decides about others."""
    if store is None or not (application.is_test and store.admits_test_applications):
        return False
    return set(grants) <= set(DEFAULT_STORE_GRANTS)


def _approved_before(application: Any, store: Any, grants: Sequence[str]) -> AssociationRequest | None:
    """The last approved request, if the application already has all requested grants."""
    roles = Role.objects.filter(application=application, store=store, user__isnull=True)
    if not set(grants or DEFAULT_STORE_GRANTS) <= set(roles.values_list("grant", flat=True)):
        return None
    approved = AssociationRequest.objects.filter(
        application=application, store=store, state=AssociationState.APPROVED
    )
    return approved.order_by("-decided").first()


def _decide(request: AssociationRequest, state: str, *, decided_by: Any, note: str) -> None:
    request.state = state
    request.note = note
    request.decided = timezone.now()
    request.decided_by_id = decided_by
    request.save(update_fields=["state", "note", "decided", "decided_by", "grants", "updated"])
