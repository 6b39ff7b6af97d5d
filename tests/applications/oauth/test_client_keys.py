"""The keys of an application are its secrets, for as long as they are valid."""

from datetime import timedelta

import pytest
from django.utils import timezone
from oauth2_provider.models import AccessToken

from applications.registration.services.keys import regenerate_key
from fulfillment.core.secrets import digest
from tests.factories.applications import ApplicationFactory, ApplicationKeyFactory
from tests.support.accounts.oauth_flows import Party


@pytest.fixture
def application(db):
    return ApplicationFactory(confidential=True)


def test_client_credentials_give_a_token_without_a_user(confidential):
    response = confidential.token(grant_type="client_credentials", scope="Store.Self.Read")
    assert response.status_code == 200
    assert set(response.json()) == {"access_token", "expires_in", "token_type", "scope"}
    assert AccessToken.objects.get().user is None


def test_every_valid_key_is_a_secret(application):
    keys = [
        application.known_key,
        *(ApplicationKeyFactory(application=application).known_value for _ in "ab"),
    ]
    for value in keys:
        response = Party(application, value).token(grant_type="client_credentials")
        assert response.status_code == 200


@pytest.mark.parametrize(
    ("start", "end", "status"),
    [(-60, 60, 200), (0, 60, 200), (5, 60, 401), (-60, 0, 401), (-60, -5, 401), (-60, 5, 200)],
)
def test_key_is_valid_from_its_start_until_before_its_end(db, start, end, status):
    now = timezone.now()
    key = ApplicationKeyFactory(
        start_date=now + timedelta(minutes=start), end_date=now + timedelta(minutes=end)
    )
    response = Party(key.application, key.known_value).token(grant_type="client_credentials")
    assert response.status_code == status


def test_regenerated_key_is_invalid_at_once(application):
    regenerate_key(application=application, key_id=application.keys.get().pk)
    assert Party(application, application.known_key).token(grant_type="client_credentials").status_code == 401


def test_key_created_under_an_older_pepper_still_works(application, settings):
    settings.PEPPERS = ["a new pepper of the test suite, 32 bytes", *settings.PEPPERS]
    assert application.keys.get().digest != digest(application.known_key)
    assert Party(application, application.known_key).token(grant_type="client_credentials").status_code == 200


def test_key_of_another_application_is_no_secret(application):
    other = ApplicationFactory(confidential=True)
    response = Party(application, other.known_key).token(grant_type="client_credentials")
    assert response.status_code == 401


def test_toolkits_own_secret_is_never_a_secret(application):
    application.client_secret = "a secret in the unused column"
    application.save()
    response = Party(application, "a secret in the unused column").token(grant_type="client_credentials")
    assert response.status_code == 401
