"""Sentry and OpenTelemetry, each only where its variable is set; both packages are optional."""

import importlib
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from fulfillment.logs import masked


def start_telemetry() -> None:
    """In every process that serves or works, after it was forked. Raises ImproperlyConfigured without the package."""
    if settings.SENTRY_DSN:
        sentry = _optional("sentry_sdk", "SENTRY_DSN")
        sentry.init(
            dsn=settings.SENTRY_DSN,
            send_default_pii=False,
            # What was sent may hold addresses of people and credentials; variables of a stack as well.
            max_request_body_size="never",
            include_local_variables=False,
            before_send=_without_secrets,
        )
    if settings.OTLP_ENDPOINT:
        _start_tracing()


def _start_tracing() -> None:
    """The exporter reads OTEL_EXPORTER_OTLP_ENDPOINT and its other standard variables itself."""
    name = "OTEL_EXPORTER_OTLP_ENDPOINT"
    trace = _optional("opentelemetry.trace", name)
    sdk = _optional("opentelemetry.sdk.trace", name)
    export = _optional("opentelemetry.sdk.trace.export", name)
    resources = _optional("opentelemetry.sdk.resources", name)
    otlp = _optional("opentelemetry.exporter.otlp.proto.http.trace_exporter", name)
    resource = resources.Resource.create({"service.name": "store-fulfillment"})
    provider = sdk.TracerProvider(resource=resource)
    provider.add_span_processor(export.BatchSpanProcessor(otlp.OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    _optional("opentelemetry.instrumentation.django", name).DjangoInstrumentor().instrument()
    _optional("opentelemetry.instrumentation.psycopg", name).PsycopgInstrumentor().instrument()


def _without_secrets(event: dict[str, Any], hint: dict[str, Any]) -> dict[str, Any]:
    cleaned: dict[str, Any] = _masked_in(event)
    cleaned.get("request", {}).pop("cookies", None)
    return cleaned


def _masked_in(value: Any) -> Any:
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, dict):
        hidden = {"authorization", "cookie", "ocp-apim-subscription-key", "idempotency-key"}
        return {k: "***" if str(k).lower() in hidden else _masked_in(inner) for k, inner in value.items()}
    return [_masked_in(inner) for inner in value] if isinstance(value, list | tuple) else value


def _optional(module: str, variable: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as missing:
        raise ImproperlyConfigured(
            f"{variable} is set, but the package {missing.name} is not installed; "
            "install requirements/optional.txt or unset it."
        ) from missing
