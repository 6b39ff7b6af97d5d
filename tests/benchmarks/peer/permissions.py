from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission

from accounts.models import SubscriptionKey
from fulfillment.core.secrets import digests


class HasSubscriptionKey(BasePermission):
    def has_permission(self, request, view):
        key = request.headers.get("Ocp-Apim-Subscription-Key", "")
        subscription_key = (
            SubscriptionKey.objects.select_related("subscription").filter(digest__in=digests(key)).first()
        )
        if (
            subscription_key is None
            or subscription_key.subscription.application_id != request.auth.application_id
        ):
            raise AuthenticationFailed
        return True
