from django.urls import include, path

from applications.oauth.metadata import describe_resource, describe_server
from applications.oauth.views import AuthorizeView, RevokeView, TokenView, effect_of_consent
from fulfillment.core.http.dangerous import dangerous

# The toolkit reverses these names in its own namespace.
OAUTH = [
    path("oauth/authorize", dangerous(effect_of_consent)(AuthorizeView.as_view()), name="authorize"),
    path("oauth/token", TokenView.as_view(), name="token"),
    path("oauth/revoke", RevokeView.as_view(), name="revoke-token"),
    path(".well-known/oauth-authorization-server", describe_server, name="oauth-server-metadata"),
    path(".well-known/oauth-authorization-server/<path:issuer_path>", describe_server),
    path(".well-known/oauth-protected-resource", describe_resource, name="oauth-resource-metadata"),
    path(".well-known/oauth-protected-resource/<path:resource_path>", describe_resource),
]
urlpatterns = [path("", include((OAUTH, "oauth2_provider")))]
