from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.models import Subscription, SubscriptionKey, SubscriptionSlot, User
from accounts.selectors.users import find_subscription, subscription_keys
from fulfillment.core.secrets import digest, encrypt, generate_secret


@transaction.atomic
def create_subscription(*, user: User | None = None, application: Any = None) -> Subscription:
    """A subscription with a fresh primary and secondary key, for exactly one owner."""
    subscription = Subscription.objects.create(user=user, application=application)
    SubscriptionKey.objects.bulk_create(
        SubscriptionKey(subscription=subscription, slot=slot, **_make_columns(generate_secret("sfs_")))
        for slot in SubscriptionSlot
    )
    return subscription


@transaction.atomic
def primary_key_of_user(*, user_id: UUID) -> str:
    """The user's key in plain text; an account without a subscription gets one."""
    user = User.objects.select_for_update(no_key=True).get(pk=user_id)
    subscription = find_subscription(user=user) or create_subscription(user=user)
    return subscription_keys(subscription)[SubscriptionSlot.PRIMARY]


@transaction.atomic
def regenerate_subscription_key(*, subscription: Subscription, slot: str) -> str:
    """Returns the new key; at commit it is valid and the old one is dead. The other slot is untouched."""
    value = generate_secret("sfs_")
    write_subscription_key(subscription=subscription, slot=slot, value=value)
    return value


def write_subscription_key(*, subscription: Subscription, slot: str, value: str) -> None:
    SubscriptionKey.objects.update_or_create(
        subscription=subscription, slot=SubscriptionSlot(slot), defaults=_make_columns(value)
    )


def _make_columns(value: str) -> dict[str, Any]:
    return {"digest": digest(value), "ciphertext": encrypt(value), "regenerated": timezone.now()}
