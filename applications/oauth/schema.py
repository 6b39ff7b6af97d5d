"""Security schemes of the OpenAPI description."""

from typing import Any

from django.conf import settings

from accounts.permissions import Permission

TOKEN_URL = f"{settings.PUBLIC_URL}/oauth/token"
SCHEMES: dict[str, Any] = {
    "OAuth2": {
        "type": "oauth2",
        "description": "Header `Authorization: Bearer <access token>`.",
        "flows": {
            "authorizationCode": {
                "authorizationUrl": f"{settings.PUBLIC_URL}/oauth/authorize",
                "tokenUrl": TOKEN_URL,
                "refreshUrl": TOKEN_URL,
                "scopes": {name: str(label) for name, label in Permission.choices},
            },
            "clientCredentials": {
                "tokenUrl": TOKEN_URL,
                "scopes": {
                    name: str(label) for name, label in Permission.choices if name != Permission.OPERATOR
                },
            },
        },
    },
    "SubscriptionKey": {
        "type": "apiKey",
        "in": "header",
        "name": "Ocp-Apim-Subscription-Key",
        "description": "The primary or secondary subscription key of the token's user or application.",
    },
}


def add_security_schemes(result: dict[str, Any], **options: Any) -> dict[str, Any]:
    """A hook of drf-spectacular, for the finished document."""
    components = result["components"] | {"securitySchemes": SCHEMES}
    result["components"] = dict(sorted(components.items()))
    return result
