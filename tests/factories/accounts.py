from typing import Any

import factory
from django.contrib.auth.hashers import make_password
from django.utils import timezone

from accounts.models import Tenant, User

PASSWORD = "a long pass phrase"


class TenantFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Tenant

    domain = factory.Sequence(lambda number: f"tenant-{number}.example")
    name = factory.LazyAttribute(lambda tenant: tenant.domain.partition(".")[0].title())


class UserFactory(factory.django.DjangoModelFactory):
    """`password` is given in the clear."""

    class Meta:
        model = User

    tenant = factory.SubFactory(TenantFactory)
    username = factory.Sequence(lambda number: f"user{number}")
    first_name = "Uma"
    last_name = "Example"
    email = factory.LazyAttribute(lambda user: f"{user.username}@{user.tenant.domain}")
    email_confirmed = factory.LazyFunction(timezone.now)
    password = PASSWORD

    @classmethod
    def _adjust_kwargs(cls, **kwargs: Any) -> dict[str, Any]:
        return {**kwargs, "password": make_password(kwargs["password"])}


class OperatorFactory(UserFactory):
    username = factory.Sequence(lambda number: f"operator{number}")
    is_operator = True
