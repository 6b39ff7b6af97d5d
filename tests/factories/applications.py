from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import factory
from django.utils import timezone

from accounts.models import User
from accounts.permissions import DEFAULT_SCOPES
from applications.oauth.services import issue_access_token
from applications.registration.models import Application, ApplicationKey
from fulfillment.core.secrets import digest, encrypt
from tests.factories.accounts import UserFactory


class ApplicationFactory(factory.django.DjangoModelFactory):
    """A public client; with `confidential=True` it has a key that is valid now, readable as `known_key`."""

    class Meta:
        model = Application

    class Params:
        confidential = factory.Trait(client_type=Application.CLIENT_CONFIDENTIAL)
        first_party = factory.Trait(is_first_party=True)

    client_id = factory.Sequence(lambda number: f"application-{number}")
    name = factory.Sequence(lambda number: f"Application {number}")
    user = factory.SubFactory(UserFactory)
    client_secret = ""
    hash_client_secret = False
    client_type = Application.CLIENT_PUBLIC
    authorization_grant_type = Application.GRANT_AUTHORIZATION_CODE
    reply_urls = ("https://client.example/callback",)

    @classmethod
    def _create(cls, model_class: type[Application], *args: Any, **kwargs: Any) -> Application:
        reply_urls = kwargs.pop("reply_urls")
        application = super()._create(model_class, *args, **kwargs, redirect_uris=" ".join(reply_urls))
        if application.client_type == Application.CLIENT_CONFIDENTIAL:
            application.known_key = ApplicationKeyFactory(application=application).known_value
        return application


class ApplicationKeyFactory(factory.django.DjangoModelFactory):
    """Valid from an hour ago for a year, unless dates are given; its value is readable as `known_value`."""

    class Meta:
        model = ApplicationKey

    application = factory.SubFactory(ApplicationFactory, client_type=Application.CLIENT_CONFIDENTIAL)
    value = factory.Sequence(lambda number: f"sfk_test_key_{number}")
    start_date = factory.LazyFunction(lambda: timezone.now() - timedelta(hours=1))
    end_date = factory.LazyFunction(lambda: timezone.now() + timedelta(days=365))

    @classmethod
    def _create(cls, model_class: type[ApplicationKey], *args: Any, **kwargs: Any) -> ApplicationKey:
        value = kwargs.pop("value")
        key = super()._create(model_class, *args, **kwargs, digest=digest(value), ciphertext=encrypt(value))
        key.known_value = value
        return key


def issue_token(user: User | None, application: Application, scopes: Iterable[str] = DEFAULT_SCOPES) -> str:
    """The value of a new access token, good for an hour; without a user the application itself calls."""
    return issue_access_token(user=user, application=application, scopes=scopes, lifetime=timedelta(hours=1))
