"""Reads the parts of the OpenAPI description that the generators need."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml

from fulfillment.core.api.declarations import ClientNames

Schema = dict[str, Any]
# Read without Django: the modules `openapi` of the apps import nothing of it.
NAMES = ClientNames.merge(
    import_module(f"{path.parent.name}.openapi").CLIENT_NAMES
    for path in sorted(Path(__file__).resolve().parents[2].glob("*/openapi.py"))
)
ROOT = "/api/v1"
JSON = "application/json"
FORM = "multipart/form-data"
# Set by the library itself, unless the caller names another one.
IDEMPOTENCY_KEY = "Idempotency-Key"
IF_MATCH = "If-Match"


class NotUnderstood(Exception):
    """The description contains something unsupported; add a rule for it here."""


@dataclass(frozen=True)
class Parameter:
    name: str
    schema: Schema
    required: bool
    description: str


@dataclass(frozen=True)
class Operation:
    id: str
    method: str
    path: str
    summary: str
    description: str
    path_names: tuple[str, ...]
    query: tuple[Parameter, ...]
    takes_key: bool
    takes_match: bool
    body: Schema | None
    body_required: bool
    takes_file: bool
    # None without a response body.
    response: Schema | None
    is_file: bool
    media: str
    is_paged: bool
    # A variant in another media type, as a separate method: its name and media type.
    variant: tuple[str, str] | None

    @property
    def group(self) -> str:
        return NAMES.group_of(self.id)

    @property
    def name(self) -> str:
        return NAMES.method_of(self.id)

    @property
    def is_repeatable(self) -> bool:
        """Whether the request is idempotent."""
        return self.method in {"GET", "DELETE"} or self.takes_key or self.id in NAMES.repeatable


@dataclass(frozen=True)
class Types:
    """How a language writes the types of schemas."""

    plain: Mapping[str, str]
    unknown: str
    record: str
    array: Callable[[str, str], str]
    choice: Callable[[list[Any]], str]

    def kind_of(self, schema: Schema, module: str = "models.") -> str:
        """The type of a schema; `module` is written before the name of a model."""
        if "$ref" in schema:
            return module + str(schema["$ref"]).rpartition("/")[2]
        for word in ("oneOf", "anyOf", "allOf"):
            if word in schema:
                return " | ".join(dict.fromkeys(self.kind_of(part, module) for part in schema[word]))
        if "enum" in schema:
            return self.choice(schema["enum"])
        if "type" not in schema:
            return self.unknown
        kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
        return " | ".join(self._single(kind, schema, module) for kind in kinds)

    def _single(self, kind: str, schema: Schema, module: str) -> str:
        if kind == "array":
            return self.array(self.kind_of(schema["items"], module), module)
        if kind == "object":
            if "properties" in schema:
                raise NotUnderstood("an object without a name; make a component of it")
            item_schema = schema.get("additionalProperties")
            inner = self.kind_of(item_schema, module) if isinstance(item_schema, dict) else self.unknown
            return self.record.format(inner)
        return self.plain[kind]


@dataclass(frozen=True)
class Document:
    schemas: dict[str, Schema]
    operations: tuple[Operation, ...]
    groups: dict[str, list[Operation]] = field(default_factory=dict)


def read_document(path: Path) -> Document:
    return document_of(
        yaml.load(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    )


def document_of(schema: Schema) -> Document:
    operations = tuple(_operations(schema))
    groups: dict[str, list[Operation]] = {}
    for operation in operations:
        group = groups.setdefault(operation.group, [])
        if any(earlier.name == operation.name for earlier in group):
            raise NotUnderstood(f"{operation.id}: {operation.group}.{operation.name} is there already")
        group.append(operation)
    return Document(schema["components"]["schemas"], operations, dict(sorted(groups.items())))


def _operations(document: Schema) -> Iterator[Operation]:
    for path, item in document["paths"].items():
        for method, text in item.items():
            yield _operation(path.removeprefix(ROOT), method.upper(), text)


def _operation(path: str, method: str, text: Schema) -> Operation:
    by_place: dict[str, list[Parameter]] = {"path": [], "query": [], "header": []}
    for entry in text.get("parameters", ()):
        parameter = Parameter(
            entry["name"], entry["schema"], entry.get("required", False), entry.get("description", "")
        )
        by_place[entry["in"]].append(parameter)
    headers = {header.name for header in by_place["header"]}
    if unknown := headers - {IDEMPOTENCY_KEY, IF_MATCH}:
        raise NotUnderstood(f"{text['operationId']}: the headers {sorted(unknown)}")
    body, body_required, takes_file = _body(text)
    return Operation(
        text["operationId"],
        method,
        path,
        text["summary"],
        text.get("description", ""),
        tuple(path_parameter.name for path_parameter in by_place["path"]),
        tuple(sorted(by_place["query"], key=lambda one: not one.required)),
        IDEMPOTENCY_KEY in headers,
        IF_MATCH in headers,
        body,
        body_required,
        takes_file,
        **_response(text),
    )


def _body(text: Schema) -> tuple[Schema | None, bool, bool]:
    body = text.get("requestBody")
    if body is None:
        return None, False, False
    required = body.get("required", False)
    # A file may also be JSON.
    if FORM in body["content"]:
        return None, required, True
    if JSON in body["content"]:
        return body["content"][JSON]["schema"], required, False
    raise NotUnderstood(f"{text['operationId']}: a body of {list(body['content'])}")


def _response(text: Schema) -> dict[str, Any]:
    successes = [response for status, response in text["responses"].items() if status.startswith("2")]
    content = successes[0].get("content", {})
    media = next(iter(content), None)
    is_json = JSON in content
    schema = content[JSON]["schema"] if is_json else (content[media]["schema"] if media else None)
    is_list = bool(is_json and schema and schema.get("type") == "array")
    return {
        "response": schema,
        "media": media or "*/*",
        "is_file": media is not None and not is_json,
        "is_paged": is_list and "Link" in successes[0].get("headers", {}),
        "variant": ("csv", "text/csv") if is_json and "text/csv" in content else None,
    }
