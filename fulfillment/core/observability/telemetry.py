"""Sentry and OpenTelemetry, each only where its variable is set, and the files by which web processes share metrics.

Both packages are optional.
"""

import importlib
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from fulfillment.core.db import prepared
from fulfillment.core.observability import logs
from fulfillment.core.observability.logs import MASK, mask_text

HIDDEN = {
    "authorization",
    "cookie",
    "forwarded",
    "idempotency-key",
    "ocp-apim-subscription-key",
    "referer",
    "remote_addr",
    "x-forwarded-for",
    "x-real-ip",
}
# Attribute names of old and new OpenTelemetry conventions.
ATTRIBUTES_OF_PEOPLE = {
    "url.query",
    "net.peer.ip",
    "http.client_ip",
    "client.address",
    "network.peer.address",
}
ATTRIBUTES_WITH_QUERY = {"http.url", "http.target", "url.full"}
VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


def start_telemetry() -> None:
    """Called in every process that serves or works, after it was forked and before the application is made: what traces
    requests is a middleware. Raises ImproperlyConfigured without the package."""
    if settings.SENTRY_DSN:
        sentry = _import_optional("sentry_sdk", "SENTRY_DSN")
        sentry.init(
            dsn=settings.SENTRY_DSN,
            send_default_pii=False,
            # Request data and stack variables may contain personal data and credentials.
            max_request_body_size="never",
            include_local_variables=False,
            # Breadcrumbs may contain personal data; the trace ID leads to our own logs.
            max_breadcrumbs=0,
            before_send=_without_secrets,
        )
    if settings.OTLP_ENDPOINT:
        _start_tracing()


def _start_tracing() -> None:
    """The exporter reads OTEL_EXPORTER_OTLP_ENDPOINT and its other standard variables itself."""
    name = "OTEL_EXPORTER_OTLP_ENDPOINT"
    trace = _import_optional("opentelemetry.trace", name)
    sdk = _import_optional("opentelemetry.sdk.trace", name)
    export = _import_optional("opentelemetry.sdk.trace.export", name)
    resources = _import_optional("opentelemetry.sdk.resources", name)
    otlp = _import_optional("opentelemetry.exporter.otlp.proto.http.trace_exporter", name)
    resource = resources.Resource.create({"service.name": "store-fulfillment"})
    provider = sdk.TracerProvider(resource=resource)
    exporter = otlp.OTLPSpanExporter()
    exporter.export = partial(_export_masked, sdk, exporter.export)
    provider.add_span_processor(export.BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    logs.span_of_tracer = partial(_span_of, trace)
    requests = _import_optional("opentelemetry.instrumentation.django", name).DjangoInstrumentor()
    requests.instrument()
    theirs, ours = (
        requests._opentelemetry_middleware,  # noqa: SLF001 - its name stands nowhere else
        "fulfillment.site.traced_requests.TracedRequests",
    )
    settings.MIDDLEWARE = [ours if name == theirs else name for name in settings.MIDDLEWARE]
    statements = _import_optional("opentelemetry.instrumentation.psycopg", name)
    statements.PsycopgInstrumentor().instrument()
    # It replaces only the cursor class of a connection, which prepared statements do not use.
    prepared.cursor_class = statements._new_cursor_factory(base_factory=prepared.cursor_class)  # noqa: SLF001 - no public name


def _export_masked(sdk: Any, send: Callable[[Any], Any], spans: Sequence[Any]) -> Any:
    """Spans cannot be changed once they have ended; what is sent are copies."""
    return send(
        [
            sdk.ReadableSpan(
                name=span.name,
                context=span.context,
                parent=span.parent,
                resource=span.resource,
                attributes=_without_people(span.attributes),
                events=[sdk.Event(e.name, _without_people(e.attributes), e.timestamp) for e in span.events],
                links=span.links,
                kind=span.kind,
                status=type(span.status)(span.status.status_code, _masked_in(span.status.description)),
                start_time=span.start_time,
                end_time=span.end_time,
                instrumentation_scope=span.instrumentation_scope,
            )
            for span in spans
        ]
    )


def _without_people(attributes: Mapping[str, Any] | None) -> dict[str, Any]:
    """Attributes without query strings and client addresses."""
    masked_values = {k: _masked_in(v) for k, v in (attributes or {}).items() if k not in ATTRIBUTES_OF_PEOPLE}
    return masked_values | {
        k: masked_values[k].partition("?")[0] for k in ATTRIBUTES_WITH_QUERY & masked_values.keys()
    }


def _span_of(trace: Any) -> tuple[str, str, str] | None:
    """The IDs of OpenTelemetry's span, so that logs and responses name the collected trace."""
    context = trace.get_current_span().get_span_context()
    if not context.is_valid:
        return None
    return (
        trace.format_trace_id(context.trace_id),
        trace.format_span_id(context.span_id),
        f"{int(context.trace_flags):02x}",
    )


def _without_secrets(event: dict[str, Any], hint: dict[str, Any]) -> dict[str, Any]:
    """The event without secrets and personal data: queries hold codes and names, bodies addresses."""
    cleaned: dict[str, Any] = _masked_in(event)
    for name in ("user", "breadcrumbs", "server_name"):
        cleaned.pop(name, None)
    # Command line arguments may name people.
    cleaned.get("extra", {}).pop("sys.argv", None)
    request = cleaned.get("request", {})
    for name in ("cookies", "data", "env", "query_string"):
        request.pop(name, None)
    if "url" in request:
        request["url"] = request["url"].partition("?")[0]
    return cleaned


def _masked_in(value: Any) -> Any:
    if isinstance(value, str):
        return mask_text(value)
    if isinstance(value, dict):
        return {k: MASK if str(k).lower() in HIDDEN else _masked_in(inner) for k, inner in value.items()}
    return [_masked_in(inner) for inner in value] if isinstance(value, list | tuple) else value


def _import_optional(module: str, variable: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as missing:
        raise ImproperlyConfigured(
            f"{variable} is set, but the package {missing.name} is not installed; "
            "install requirements/optional.txt or unset it."
        ) from missing


def configure_multiprocess_metrics() -> None:
    """Sets one folder for all processes of this server, before prometheus_client is imported; removes old folders."""
    if os.environ.get(VARIABLE):
        return
    root = Path(tempfile.gettempdir())
    prefix = f"fulfillment-figures-{os.getuid()}-"
    for leftover in root.glob(f"{prefix}*"):
        if not Path("/proc", leftover.name.removeprefix(prefix)).exists():
            shutil.rmtree(leftover, ignore_errors=True)
    folder = root / f"{prefix}{os.getppid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to another user.")
    os.environ[VARIABLE] = str(folder)
