"""Metadata of the authorization server (RFC 8414) and of the protected resource (RFC 9728)."""

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.permissions import Permission

AUTHENTICATION_METHODS = ["client_secret_basic", "client_secret_post", "none"]
PUBLIC = {"Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=300"}


@require_safe
def describe_server(request: HttpRequest, issuer_path: str = "") -> JsonResponse:
    """The description is served also at the path that RFC 8414 defines for an issuer with a path."""
    if issuer_path.strip("/") not in {"", urlsplit(settings.PUBLIC_URL).path.strip("/")}:
        return _refuse_unknown()
    implicit = settings.IMPLICIT_FLOW_ENABLED
    return _send_document(
        {
            "issuer": settings.PUBLIC_URL,
            "authorization_endpoint": _make_address("authorize"),
            "token_endpoint": _make_address("token"),
            "revocation_endpoint": _make_address("revoke-token"),
            "scopes_supported": _third_party_scopes(),
            "response_types_supported": ["code", "token"] if implicit else ["code"],
            "response_modes_supported": ["query", "fragment"] if implicit else ["query"],
            "grant_types_supported": [
                "authorization_code",
                "refresh_token",
                "client_credentials",
                *(["implicit"] if implicit else []),
            ],
            "token_endpoint_auth_methods_supported": AUTHENTICATION_METHODS,
            "revocation_endpoint_auth_methods_supported": AUTHENTICATION_METHODS,
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
            "protected_resources": [settings.API_URL],
            "service_documentation": f"{settings.API_URL}/docs",
        }
    )


@require_safe
def describe_resource(request: HttpRequest, resource_path: str = "") -> JsonResponse:
    """Describes the resource that the URL was derived from: the service, or only its API."""
    resource = {
        "": settings.PUBLIC_URL,
        urlsplit(settings.PUBLIC_URL).path.strip("/"): settings.PUBLIC_URL,
        urlsplit(settings.API_URL).path.strip("/"): settings.API_URL,
    }.get(resource_path.strip("/"))
    if resource is None:
        return _refuse_unknown()
    return _send_document(
        {
            "resource": resource,
            "authorization_servers": [settings.PUBLIC_URL],
            "scopes_supported": _third_party_scopes(),
            "bearer_methods_supported": ["header"],
            "resource_name": "Store Fulfillment API",
            "resource_documentation": f"{settings.API_URL}/docs",
        }
    )


def _send_document(content: dict[str, object]) -> JsonResponse:
    return JsonResponse(content, headers=PUBLIC)


def _refuse_unknown() -> JsonResponse:
    return JsonResponse({"error": "not_found"}, status=404, headers=PUBLIC)


def _make_address(name: str) -> str:
    return settings.PUBLIC_URL + reverse(f"oauth2_provider:{name}")


def _third_party_scopes() -> list[str]:
    return [name for name in Permission.values if name != Permission.OPERATOR]
