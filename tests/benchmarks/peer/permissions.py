from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission

from accounts.models import SubscriptionKey
from fulfillment.core.secrets import digests


class HasSubscriptionKey(BasePermission):
    def has_permission(self, request, view):
        key = request.headers.get("Ocp-Apim-Subscription-Key", "")
        found = SubscriptionKey.objects.select_related("subscription").filter(digest__in=digests(key)).first()
        if found is None or found.subscription.application_id != request.auth.application_id:
            raise AuthenticationFailed
        return True
