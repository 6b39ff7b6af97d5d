from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Subscription, SubscriptionKey
from accounts.selectors.users import subscription_keys
from accounts.services.subscriptions import create_subscription, regenerate_subscription_key
from fulfillment.core.secrets import decrypt, digest


def test_new_subscription_has_two_different_keys(world):
    Subscription.objects.filter(user=world.outsider).delete()

    subscription = create_subscription(user=world.outsider)

    keys = subscription_keys(subscription)
    assert set(keys) == {"primary", "secondary"}
    assert keys["primary"] != keys["secondary"]
    assert {key[:4] for key in keys.values()} == {"sfs_"}
    assert (subscription.user, subscription.application) == (world.outsider, None)
    assert {key.digest for key in subscription.keys.all()} == {digest(key) for key in keys.values()}


def test_subscription_of_an_application_has_no_person(world):
    Subscription.objects.filter(application=world.application).delete()

    subscription = create_subscription(application=world.application)

    assert (subscription.user, subscription.application) == (None, world.application)


@pytest.mark.parametrize(("slot", "other"), [("primary", "secondary"), ("secondary", "primary")])
def test_regenerated_key_replaces_that_of_its_slot_alone(world, slot, other):
    subscription = world.user.subscription
    before = subscription_keys(subscription)
    SubscriptionKey.objects.update(regenerated=timezone.now() - timedelta(days=1))

    value = regenerate_subscription_key(subscription=subscription, slot=slot)

    assert subscription_keys(subscription) == {slot: value, other: before[other]}
    assert value not in before.values()
    assert value.startswith("sfs_")
    stored = SubscriptionKey.objects.get(subscription=subscription, slot=slot)
    assert (stored.digest, decrypt(stored.ciphertext)) == (digest(value), value)
    assert timezone.now() - stored.regenerated < timedelta(minutes=1)


def test_keys_of_others_stay_as_they_are(world):
    before = subscription_keys(world.outsider.subscription)

    regenerate_subscription_key(subscription=world.user.subscription, slot="primary")

    assert subscription_keys(world.outsider.subscription) == before


def test_slot_that_is_none_is_refused(world):
    with pytest.raises(ValueError, match="third"):
        regenerate_subscription_key(subscription=world.user.subscription, slot="third")
