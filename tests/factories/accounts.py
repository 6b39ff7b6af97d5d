from typing import Any

import factory
from django.contrib.auth.hashers import make_password
from django.utils import timezone

from accounts.models import Subscription, SubscriptionSlot, Tenant, User
from accounts.services.subscriptions import write_subscription_key

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


class SubscriptionFactory(factory.django.DjangoModelFactory):
    """Of a new user unless `user=None, application=…` is given; its keys are readable as `known_keys[slot]`."""

    class Meta:
        model = Subscription

    user = factory.SubFactory(UserFactory)
    application = None
    primary = factory.Sequence(lambda number: f"sfs_test_primary_{number}")
    secondary = factory.Sequence(lambda number: f"sfs_test_secondary_{number}")

    @classmethod
    def _create(cls, model_class: type[Subscription], *args: Any, **kwargs: Any) -> Subscription:
        known_keys = {slot.value: kwargs.pop(slot.value) for slot in SubscriptionSlot}
        subscription = super()._create(model_class, *args, **kwargs)
        for slot, value in known_keys.items():
            write_subscription_key(subscription=subscription, slot=slot, value=value)
        subscription.known_keys = known_keys
        return subscription
