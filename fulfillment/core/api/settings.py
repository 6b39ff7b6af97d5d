"""The parts of the settings that concern the API and its description."""

from pathlib import Path
from typing import Any

DESCRIPTION = Path(__file__).with_name("description.md")

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["applications.oauth.token_authentication.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["accounts.api.declared_access.DeclaredAccess"],
    "DEFAULT_RENDERER_CLASSES": ["fulfillment.core.api.responses.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["fulfillment.core.api.parsing.JSONParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "fulfillment.core.api.responses.Negotiation",
    "DEFAULT_SCHEMA_CLASS": "fulfillment.core.api.schema.OperationSchema",
    "EXCEPTION_HANDLER": "fulfillment.core.api.errors.exception_response",
    "DEFAULT_METADATA_CLASS": "fulfillment.core.api.responses.MethodsOnly",
    "UNAUTHENTICATED_USER": None,
    # The Accept header alone says what is answered.
    "URL_FORMAT_OVERRIDE": None,
    "DATETIME_FORMAT": "%Y-%m-%dT%H:%M:%S.%fZ",
}

RATE_LIMIT_HEADERS = {
    "RateLimit-Policy": (
        'The limit that applies here, such as `"subscription";q=600;w=60`: 600 requests in 60 seconds.'
    ),
    "RateLimit": (
        'What is left of the limit, such as `"subscription";r=599;t=60`: 599 requests, with a full reset '
        "in 60 seconds."
    ),
}


def spectacular_settings(*, public_url: str, api_root: str) -> dict[str, Any]:
    return {
        "TITLE": "Store Fulfillment API",
        "VERSION": "1",
        "OAS_VERSION": "3.1.1",
        "DESCRIPTION": DESCRIPTION.read_text(encoding="utf-8"),
        "SERVERS": [{"url": public_url, "description": "This installation."}],
        "CONTACT": {"name": "The operator of this installation", "url": public_url},
        "LICENSE": {"name": "The terms of this installation", "url": public_url},
        "SCHEMA_PATH_PREFIX": api_root,
        "SERVE_INCLUDE_SCHEMA": False,
        "COMPONENT_SPLIT_REQUEST": True,
        # Bodies of PATCH have serializers of their own, without required members.
        "COMPONENT_SPLIT_PATCH": False,
        "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": False,
        "AUTHENTICATION_WHITELIST": [],
        "GET_LIB_DOC_EXCLUDES": "fulfillment.core.api.schema.classes_without_description",
        "POSTPROCESSING_HOOKS": [
            "drf_spectacular.hooks.postprocess_schema_enums",
            "fulfillment.core.api.document.run_hooks_of_apps",
            "fulfillment.core.api.document.finish_document",
            "fulfillment.core.api.document.add_links",
        ],
        "APPEND_COMPONENTS": {
            "headers": {
                name: {"description": text, "schema": {"type": "string"}}
                for name, text in RATE_LIMIT_HEADERS.items()
            },
        },
    }
