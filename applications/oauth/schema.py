"""Security schemes of the OpenAPI description."""

from typing import Any

from django.conf import settings

from accounts.permissions import Permission


def add_security_schemes(result: dict[str, Any], **options: Any) -> dict[str, Any]:
    """A hook of drf-spectacular, for the finished document."""
    components = result["components"] | {"securitySchemes": _schemes()}
    result["components"] = dict(sorted(components.items()))
    return result


def _schemes() -> dict[str, Any]:
    token_url = f"{settings.PUBLIC_URL}/oauth/token"
    return {
        "OAuth2": {
            "type": "oauth2",
            "description": "Header `Authorization: Bearer <access token>`.",
            "flows": {
                "authorizationCode": {
                    "authorizationUrl": f"{settings.PUBLIC_URL}/oauth/authorize",
                    "tokenUrl": token_url,
                    "refreshUrl": token_url,
                    "scopes": {name: str(label) for name, label in Permission.choices},
                },
                "clientCredentials": {
                    "tokenUrl": token_url,
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
