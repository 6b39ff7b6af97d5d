"""The OpenAPI description: what each operation declares, plus what the frame adds to all of them.

Security, "who may call it" and the refusals come from the `access` that is enforced; a view's
`errors = {action: {status: when}}` names what else an operation can answer.
"""

import threading
from functools import cache
from typing import Any

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.utils import translation
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import get_lib_doc_excludes
from drf_spectacular.renderers import OpenApiYamlRenderer
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from fulfillment.core.api.access import Access
from fulfillment.core.api.document import TAKES_NULL
from fulfillment.core.api.responses import PROBLEM_JSON, is_unchanged, json_bytes, not_modified, weak_etag
from fulfillment.core.api.serializers import Meta, StrictList, StrictSerializer, StrictText

ALWAYS = {
    400: "The path, the query or a header is malformed.",
    401: "The subscription key or the access token is missing, invalid, expired or revoked.",
    403: "This kind of caller, its token or its grants do not allow the operation.",
    406: "The service cannot return any media type in the Accept header.",
    429: "The subscription used up its requests for this minute, or the caller its share of processor time "
    "(`too_many_at_once`). Try again after Retry-After seconds.",
    431: "One header is too long, or all headers together are.",
    503: "The service cannot reach its database, or cannot write to it. Try again after Retry-After seconds.",
}
WITH_KEY = {
    409: "A request with this `Idempotency-Key` is in progress (`request_in_progress`), or its state forbids it.",
    422: "The `Idempotency-Key` was used for another request (`idempotency_key_reused`).",
}
WITH_BODY = {
    400: "The body breaks a rule. `Errors` gives the position and the allowed values.",
    413: "The body is too large.",
    415: "The operation does not accept this Content-Type.",
}
# The characters allowed in URLs; see fulfillment.site.middleware.RequestFilter.
PATH_PATTERN = r"^[^/\x00-\x1F\x7F]+$"
QUERY_PATTERN = r"^[^\x00-\x08\x0B\x0C\x0E-\x1F\x7F]*$"
# Characters refused in bodies even at the ends of a text.
TEXT_PATTERN = r"^[^\x00-\x08\x0E-\x1B\x7F-\x84\x86-\x9F]*$"
NO_NUL_PATTERN = r"^[^\x00]*$"
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {
        "type": "string",
        # Plain, or between quotes.
        "pattern": r'^(?:[!#-~](?:[ -~]{0,253}[!-~])?|"[!#-\[\]-~](?:[ !#-\[\]-~]{0,253}[!#-\[\]-~])?")$',
    },
    OpenApiParameter.HEADER,
    description=(
        "Up to 255 printable ASCII characters, plain or quoted. For 24 hours, the same key and body return "
        "the stored response with `Idempotent-Replayed: true`, and nothing is done twice. Refusals are not "
        "stored."
    ),
)
HEADERS = {
    401: {"WWW-Authenticate": "Which credential was refused, and why."},
    429: {"Retry-After": "Seconds to wait."},
    503: {"Retry-After": "Seconds to wait."},
}
ON_EVERY_RESPONSE = {name: {"$ref": f"#/components/headers/{name}"} for name in settings.RATE_LIMIT_HEADERS}


def classes_without_description() -> list[type]:
    """Names classes whose docstrings are for authors of subclasses, not for callers of the API."""
    return [*get_lib_doc_excludes(), StrictSerializer]


_generating = threading.Lock()


class FaultSerializer(serializers.Serializer):
    Pointer = serializers.CharField(allow_blank=True, help_text="A JSON pointer into the request.")
    Code = serializers.CharField(help_text="Stable, snake_case.")
    Message = serializers.CharField(help_text="What was wrong and what is allowed.")


class ProblemSerializer(serializers.Serializer):
    """The body of every error (RFC 9457)."""

    type = serializers.CharField(help_text="The URL of a page with cause, example and fix.")
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    Code = serializers.CharField(help_text="Stable, in snake_case, for programs to act on.")
    Errors = FaultSerializer(many=True, help_text="Every error in the request, up to the first 100.")
    ErrorCount = serializers.IntegerField(
        min_value=0, help_text="The number of all errors, including those not listed."
    )
    RequestID = serializers.CharField(
        required=False, help_text="Quote it when you contact support. Also in the `X-Request-ID` header."
    )
    _meta = Meta()
    statusCode = serializers.IntegerField(required=False, help_text="Subscription key errors only.")
    message = serializers.CharField(required=False, help_text="Subscription key errors only.")


class OperationSchema(AutoSchema):
    def get_tags(self) -> list[str]:
        return [self.view.tag]

    def get_auth(self) -> list[dict[str, list[str]]]:
        access = self._find_access()
        tokens = [[name] for name in access.permissions] or [["Operator"] if access.operator_only else []]
        if access.third_party_scope:
            tokens = [[access.third_party_scope], *tokens]
        key: dict[str, list[str]] = {"SubscriptionKey": []}
        required = [{"OAuth2": scopes, **key} for scopes in tokens]
        return required if access.subscription_key_required else [*required, *({"OAuth2": s} for s in tokens)]

    def get_operation(self, *args: Any) -> Any:
        operation = super().get_operation(*args)
        if operation is not None:
            own = operation.get("description", "")
            operation["description"] = f"{own}\n\n{access_text(self._find_access())}".strip()
            for parameter in operation.get("parameters", ()):
                _limit_text(parameter)
            operation.get("parameters", []).sort(key=self._parameter_order)
            if "requestBody" in operation and self._needs_body(operation["requestBody"]["content"]):
                operation["requestBody"]["required"] = True
        return operation

    def _parameter_order(self, parameter: dict[str, Any]) -> tuple[int, bool]:
        """Sorts path parameters first, in path order: clients turn them into positional arguments."""
        if parameter["in"] == "path":
            return self.path.index("{" + parameter["name"] + "}"), False
        return len(self.path), not parameter.get("required", False)

    def _get_serializer_name(self, *args: Any, **options: Any) -> str:
        name: str = super()._get_serializer_name(*args, **options)
        return name.replace("RequestRequest", "Request")

    def _get_serializer_field_meta(self, field: Any, direction: Any) -> dict[str, Any]:
        meta: dict[str, Any] = super()._get_serializer_field_meta(field, direction)
        if field.field_name == "_meta":
            meta.pop("title", None)
        form = field.parent
        if direction == "request" and isinstance(form, StrictSerializer):
            takes_null = meta.pop("nullable", False)
            meta |= {TAKES_NULL: True} if takes_null or (form.ignored_nulls and not field.required) else {}
        return meta

    def _needs_body(self, content: dict[str, Any]) -> bool:
        form = self.get_request_serializer()
        return "application/json" not in content or bool(getattr(form, "one_of_these_required", ()))

    def _map_serializer_field(self, field: Any, *args: Any, **options: Any) -> Any:
        schema = super()._map_serializer_field(field, *args, **options)
        if isinstance(field, serializers.ListSerializer):
            smallest = field.min_length or (0 if field.allow_empty else 1)
            limits = {"minItems": smallest, "maxItems": field.max_length}
            schema |= {name: limit for name, limit in limits.items() if limit}
        elif isinstance(field, StrictList) and not field.allow_empty:
            schema.setdefault("minItems", 1)
        return schema

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> Any:
        schema = super()._map_basic_serializer(serializer, direction)
        if isinstance(serializer, StrictSerializer):
            schema["additionalProperties"] = False
        return schema

    def _insert_field_validators(self, field: Any, schema: Any) -> None:
        super()._insert_field_validators(field, schema)
        # `anyOf`, because the empty string matches both schemas.
        if "oneOf" in schema and getattr(field, "allow_blank", False):
            schema["anyOf"] = schema.pop("oneOf")
        if schema.get("type") == "string" and not {"enum", "format", "pattern"} & schema.keys():
            if isinstance(field, StrictText):
                schema["pattern"] = TEXT_PATTERN
            elif isinstance(field, serializers.CharField) and _is_sent(field):
                schema["pattern"] = NO_NUL_PATTERN

    def _find_access(self) -> Access:
        access: Access = self.view.access[self.view.action]
        return access

    def _list_errors(self) -> dict[int, str]:
        stated = getattr(self.view, "errors", {}).get(self.view.action, {})
        with_body = WITH_BODY if self.method in {"POST", "PUT", "PATCH"} else {}
        missing = {404: "No record has this ID."} if "{" in self.path else {}
        with_key = WITH_KEY if self._is_idempotent() else {}
        return {**ALWAYS, **missing, **with_body, **with_key, **stated}

    def _is_idempotent(self) -> bool:
        return getattr(getattr(self.view, self.view.action), "is_idempotent", False)

    def get_override_parameters(self) -> list[Any]:
        own = super().get_override_parameters()
        return [*own, IDEMPOTENCY_KEY] if self._is_idempotent() else own

    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        problem = self.resolve_serializer(ProblemSerializer, "response").ref
        for status, when in sorted(self._list_errors().items()):
            bodies[str(status)] = {"description": when, "content": {PROBLEM_JSON: {"schema": problem}}}
        for code, body in bodies.items():
            texts = HEADERS.get(int(code), {})
            own = {name: {"description": text, "schema": {"type": "string"}} for name, text in texts.items()}
            body["headers"] = {**body.get("headers", {}), **own, **ON_EVERY_RESPONSE}
        return bodies


def _is_sent(field: serializers.Field) -> bool:
    while field is not None and not isinstance(field, StrictSerializer):
        field = field.parent
    return field is not None


def _limit_text(parameter: dict[str, Any]) -> None:
    schema = parameter["schema"]
    schema = schema["items"] if schema.get("type") == "array" else schema
    if schema.get("type") == "string" and not {"enum", "format", "pattern"} & schema.keys():
        if parameter["in"] == "path":
            schema["pattern"] = PATH_PATTERN
        elif parameter["in"] == "query":
            schema["pattern"] = QUERY_PATTERN


def access_text(access: Access) -> str:
    """The permission paragraph of the reference."""
    parts = [f"**Who may call it.** {access.rule}"]
    if not access.is_for_applications:
        parts.append("Only users may call it, not applications on their own.")
    if access.operator_only:
        parts.append("The token needs the scope `Operator`.")
    elif access.permissions:
        parts.append("The caller needs " + " or ".join(f"`{name}`" for name in access.permissions) + ".")
    else:
        parts.append("It needs no permission.")
    if access.third_party_scope:
        parts.append(
            f"Through a third-party application, the user's token needs the scope `{access.third_party_scope}`."
        )
    if not access.subscription_key_required:
        parts.append("The subscription key is optional here, but must be valid if sent.")
    return " ".join(parts)


def schema_document() -> dict[str, Any]:
    """The document, generated once in a process: loading drf-spectacular's extensions is not thread-safe."""
    with _generating:
        return _generated_document()


@cache
def _generated_document() -> dict[str, Any]:
    # A page in another language may need it first.
    with translation.override(settings.LANGUAGE_CODE):
        document: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return document


@cache
def _schema_bytes(form: str) -> bytes:
    if form == "yaml":
        return bytes(OpenApiYamlRenderer().render(schema_document(), renderer_context={}))
    return orjson.dumps(schema_document())


def serve_schema(request: HttpRequest) -> HttpResponse:
    """JSON by default, YAML for `?format=yaml` or an Accept header that names it."""
    if request.method not in {"GET", "HEAD"}:
        return HttpResponseNotAllowed(["GET", "HEAD"])
    wants_yaml = request.GET.get("format") == "yaml" or "yaml" in request.headers.get("Accept", "")
    body = _schema_bytes("yaml" if wants_yaml else "json")
    etag = weak_etag(body)
    if is_unchanged(request, etag):
        return not_modified(etag)
    response = json_bytes(request, body, etag=etag)
    response["Content-Type"] = "application/yaml" if wants_yaml else "application/vnd.oai.openapi+json"
    return response
