from datetime import timedelta

import pytest
from django.core import mail
from django.db import IntegrityError
from django.utils import timezone

from accounts.callers import Caller
from accounts.models import AssociationRequest
from accounts.operations import retention_rules
from accounts.services.associations import (
    MAILED_PER_APPLICANT,
    MAILED_PER_HOUR,
    inform_operators,
    request_association,
    send_association_mail,
    withdraw_association,
)
from accounts.tasks import send_request
from fulfillment.core.errors import Busy, Conflict
from tests.factories.accounts import OperatorFactory, UserFactory
from tests.factories.applications import ApplicationFactory
from tests.factories.stores import make_store

pytestmark = pytest.mark.django_db


@pytest.fixture
def requested():
    return AssociationRequest.objects.create(
        application=ApplicationFactory(), store=make_store(), message="Please"
    )


@pytest.fixture
def queued(monkeypatch):
    """Who gets a mail."""
    addresses: list[str] = []

    class Task:
        def defer(self, *, request_id: str, user_id: str) -> None:
            addresses.append(user_id)

    monkeypatch.setattr("accounts.services.associations.app.configure_task", lambda name: Task())
    return addresses


@pytest.mark.parametrize(
    ("state", "days", "is_removed"),
    [("Denied", 91, True), ("Withdrawn", 91, True), ("Denied", 89, False), ("Pending", 500, False)],
)
def test_decided_requests_but_the_last_are_removed_after_ninety_days(requested, state, days, is_removed):
    decided = timezone.now() - timedelta(days=days)
    AssociationRequest.objects.update(
        state=state, created=decided, decided=None if state == "Pending" else decided
    )
    asked = {"application": requested.application, "state": "Denied"}
    for store in (requested.store, make_store()):
        AssociationRequest.objects.create(**asked, store=store, decided=timezone.now() - timedelta(days=90.5))

    for rule in retention_rules():
        if rule.name == "decided association requests":
            list(rule.remove(10))

    assert AssociationRequest.objects.filter(pk=requested.pk).exists() != is_removed


def test_request_is_refused_if_the_one_it_met_was_decided_meanwhile(requested, monkeypatch):
    caller, values = (
        Caller(user_id=UserFactory().pk),
        {"application": requested.application, "store": requested.store},
    )

    def met(*_, **__):
        raise IntegrityError

    AssociationRequest.objects.update(state="Denied", decided=timezone.now())
    monkeypatch.setattr(AssociationRequest.objects, "create", met)

    with pytest.raises(Busy, match="Send this one again"):
        request_association(caller=caller, **values)


def test_operators_get_a_mail_with_a_link_to_the_decision(requested, settings):
    operator = OperatorFactory()

    send_request(request_id=str(requested.pk), user_id=str(operator.pk))

    letter = mail.outbox[0]
    assert letter.to == [operator.email]
    assert f"{settings.PUBLIC_URL}/admin/accounts/associationrequest/{requested.pk}/change/" in letter.body
    assert "Please" in letter.body


def test_decided_request_is_not_mailed(requested):
    AssociationRequest.objects.filter(pk=requested.pk).update(state="Withdrawn", decided=timezone.now())

    send_association_mail(request_id=str(requested.pk), user_id=str(OperatorFactory().pk))

    assert mail.outbox == []


def test_only_operators_with_a_confirmed_address_are_informed(requested, queued):
    confirmed, _ = OperatorFactory(), OperatorFactory(email_confirmed=None)

    inform_operators(requested)

    assert queued == [str(confirmed.pk)]


def test_many_requests_in_an_hour_are_not_mailed(requested, queued):
    OperatorFactory()
    store = make_store()
    AssociationRequest.objects.bulk_create(
        AssociationRequest(application=ApplicationFactory(), store=store) for _ in range(MAILED_PER_HOUR)
    )

    inform_operators(requested)

    assert queued == []


def test_one_applicant_keeps_no_request_of_others_out_of_the_mailboxes(requested, queued):
    operator, applicant, store = OperatorFactory(), UserFactory(), make_store()
    for _ in range(MAILED_PER_HOUR + 1):
        pending = AssociationRequest.objects.create(
            application=ApplicationFactory(), store=store, requested_by=applicant
        )
        inform_operators(pending)
    assert queued == [str(operator.pk)] * MAILED_PER_APPLICANT

    inform_operators(requested)

    assert queued == [str(operator.pk)] * (MAILED_PER_APPLICANT + 1)


def test_requests_of_a_day_are_limited_for_the_applicant_and_for_no_other(world, monkeypatch):
    monkeypatch.setattr("accounts.services.associations.MAX_REQUESTS_PER_DAY", 2)
    caller, store = Caller.on_pages(world.user), make_store()

    def request_and_withdraw(by: Caller) -> None:
        made, _ = request_association(caller=by, application=world.application, store=store)
        withdraw_association(caller=by, request_id=made.pk)

    for _ in range(2):
        request_and_withdraw(caller)
    with pytest.raises(Conflict) as refused:
        request_and_withdraw(caller)
    request_association(
        caller=Caller(application_id=world.application.pk), application=world.application, store=store
    )

    assert refused.value.code == "too_many_associations"
    assert AssociationRequest.objects.filter(store=store).count() == 3
