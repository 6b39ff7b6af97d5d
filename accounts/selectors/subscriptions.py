from accounts.models import Subscription
from fulfillment.core.secrets import decrypt


def subscription_keys(subscription: Subscription) -> dict[str, str]:
    """The plain keys by slot ("primary", "secondary"); show them only to their owner."""
    return {key.slot: decrypt(key.ciphertext) for key in subscription.keys.order_by("slot")}
