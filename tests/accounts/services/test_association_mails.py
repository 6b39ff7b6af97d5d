import pytest
from django.core import mail
from django.utils import timezone

from accounts.models import AssociationRequest
from accounts.services.association_mails import MAILED_PER_HOUR, inform_operators, send_association_mail
from accounts.tasks import send_request
from tests.factories.accounts import OperatorFactory
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
    found: list[str] = []

    class Task:
        def defer(self, *, request_id: str, user_id: str) -> None:
            found.append(user_id)

    monkeypatch.setattr("accounts.services.association_mails.app.configure_task", lambda name: Task())
    return found


def test_operators_get_a_mail_with_a_link_to_the_decision(requested, settings):
    operator = OperatorFactory()

    send_request(request_id=str(requested.pk), user_id=str(operator.pk))

    letter = mail.outbox[0]
    assert letter.to == [operator.email]
    assert f"{settings.PUBLIC_URL}/admin/accounts/associationrequest/{requested.pk}/change/" in letter.body
    assert "Please" in letter.body


def test_a_decided_request_is_not_mailed(requested):
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
