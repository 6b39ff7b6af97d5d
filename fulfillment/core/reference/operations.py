"""The operations and events of the OpenAPI document, ready to be shown. Read once in a process."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from fulfillment.core.api.declarations import ClientNames, camel
from fulfillment.core.api.errors import TITLES
from fulfillment.core.api.schema import schema_document
from fulfillment.core.code_examples import ExampleRequest, request_examples
from fulfillment.core.plugins import offered_values
from fulfillment.core.reference.guides import render_markdown, rendered_line
from fulfillment.core.reference.schemas import (
    Body,
    DescribedError,
    DescribedEvent,
    DescribedMember,
    Group,
    Operation,
    Response,
    SchemaReader,
)

ACCESS = "**Who may call it.**"
PLACE = re.compile(r"{(\w+)}")
EXAMPLE_VALUES = {"storeID": "demo", "productID": "business-card-standard", "itemKey": "cards"}
CODE = re.compile(r"`([a-z]+(?:_[a-z]+)+)`")
METHODS = ("get", "post", "put", "patch", "delete")
# Errors of all operations by status; specific ones come from their descriptions.
CODES_OF_ALL = {
    "400": ("invalid_request", "parameter_invalid"),
    "401": ("subscription_key_missing", "token_missing", "token_invalid", "subscription_key_invalid"),
    "403": ("closed_to_applications", "closed_to_users", "insufficient_scope"),
    "404": ("not_found",),
    "406": ("not_acceptable",),
    "413": ("body_too_large",),
    "415": ("unsupported_media_type",),
    "429": ("rate_limit_exceeded",),
    "431": ("headers_too_large",),
    "503": ("service_unavailable",),
}


@cache
def groups() -> tuple[Group, ...]:
    """The operations by tag, in the order of the document."""
    document = schema_document()
    reader = SchemaReader(document)
    by_tag: dict[str, list[Operation]] = {}
    for path, method, operation in _list_operations(document):
        by_tag.setdefault(operation["tags"][0], []).append(
            _read_operation(document, reader, path, method, operation)
        )
    texts = {tag["name"]: tag["description"] for tag in document["tags"]}
    order = [name for name in texts if name in by_tag] + [name for name in by_tag if name not in texts]
    return tuple(Group(name, texts.get(name, ""), tuple(by_tag[name])) for name in order)


@cache
def operations() -> dict[str, Operation]:
    return {operation.id: operation for group in groups() for operation in group.operations}


@cache
def events() -> dict[str, DescribedEvent]:
    document = schema_document()
    reader = SchemaReader(document)
    return {
        name: _read_event(reader, name, _resolve_reference(document, item)["post"])
        for name, item in document["webhooks"].items()
    }


def _resolve_reference(document: Mapping[str, Any], item: Mapping[str, Any]) -> Mapping[str, Any]:
    """A webhook is in the document itself or among its components."""
    for step in item["$ref"].removeprefix("#/").split("/") if "$ref" in item else ():
        document = document[step.replace("~1", "/").replace("~0", "~")]
    return document if "$ref" in item else item


def _list_operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, method, item[method]


def _read_operation(
    document: Mapping[str, Any], reader: SchemaReader, path: str, method: str, operation: dict[str, Any]
) -> Operation:
    about, _, access = operation["description"].partition(ACCESS)
    responses = tuple(
        _read_response(reader, status, response)
        for status, response in operation["responses"].items()
        if status.startswith("2")
    )
    scopes = {scope for way in operation["security"] for scope in way.get("OAuth2", ())}
    return Operation(
        id=operation["operationId"],
        title=operation["summary"],
        method=method.upper(),
        path=path,
        tag=operation["tags"][0],
        description=render_markdown(about),
        access=render_markdown(access),
        parameters=tuple(_read_parameters(reader, operation)),
        body=_read_body(reader, operation.get("requestBody")),
        responses=responses,
        refusals=tuple(_list_refusals(operation)),
        samples=tuple(request_examples(_example_request(document, path, method, operation))),
        leads_to=tuple(dict.fromkeys(_list_links(document, operation))),
        scopes=tuple(sorted(scopes)),
        text=" ".join([operation["operationId"], operation["summary"], method.upper(), path, about]),
        library=_library_names(operation["operationId"]),
        phrases=_list_phrases().get(operation["operationId"], ()),
        raw=operation,
    )


@cache
def _list_phrases() -> dict[str, tuple[str, ...]]:
    return {
        name: tuple(phrases.split("; "))
        for searched in offered_values("openapi", "SEARCHED_AS")
        for name, phrases in searched.items()
    }


def _library_names(operation_id: str) -> tuple[str, ...]:
    """The methods of the client libraries: of both, or first Python's, then TypeScript's."""
    names = ClientNames.merge(offered_values("openapi", "CLIENT_NAMES"))
    group, method = names.group_of(operation_id), names.method_of(operation_id)
    return tuple(dict.fromkeys(f"client.{group}.{name}" for name in (method, camel(method))))


def _read_parameters(
    reader: SchemaReader, operation: Mapping[str, Any]
) -> Iterator[tuple[str, tuple[DescribedMember, ...]]]:
    for place, label in (("path", "Path"), ("query", "Query"), ("header", "Headers")):
        parameters = [parameter for parameter in operation.get("parameters", ()) if parameter["in"] == place]
        if parameters:
            yield label, tuple(_read_parameter(reader, parameter) for parameter in parameters)


def _read_parameter(reader: SchemaReader, parameter: Mapping[str, Any]) -> DescribedMember:
    schema = {**parameter["schema"], "description": parameter.get("description", "")}
    return reader.read(schema, name=parameter["name"], required=parameter.get("required", False))


def _read_body(reader: SchemaReader, body: Mapping[str, Any] | None) -> Body | None:
    if body is None:
        return None
    content = body["content"]
    first = content.get("application/json") or next(iter(content.values()))
    is_json = "application/json" in content
    return Body(tuple(content), reader.read(first["schema"]) if is_json else None, _read_examples(first))


def _read_response(reader: SchemaReader, status: str, response: Mapping[str, Any]) -> Response:
    content = response.get("content", {})
    first = content.get("application/json", {})
    headers = {name: header for name, header in response.get("headers", {}).items() if "$ref" not in header}
    return Response(
        status=status,
        description=render_markdown(response.get("description", "")),
        media=tuple(content),
        headers=tuple(
            reader.read({**header["schema"], "description": header["description"]}, name=name)
            for name, header in headers.items()
        ),
        schema=reader.read(first["schema"]) if first else None,
        examples=_read_examples(first),
    )


def _read_examples(content: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (example.get("summary", name), json.dumps(example["value"], indent=2, ensure_ascii=False))
        for name, example in content.get("examples", {}).items()
    )


def _list_refusals(operation: Mapping[str, Any]) -> Iterator[DescribedError]:
    keyed = any(parameter["name"] == "Idempotency-Key" for parameter in operation.get("parameters", ()))
    for status, response in sorted(operation["responses"].items()):
        if status.startswith("2"):
            continue
        own = CODE.findall(response["description"])
        general = [*CODES_OF_ALL.get(status, ())]
        if status == "400":
            general += ["invalid_body"] * ("requestBody" in operation) + ["idempotency_key_invalid"] * keyed
        if "Operator" in str(operation["security"]) and status == "403":
            general.append("operator_only")
        title = TITLES.get(int(status), "") or {"431": "Headers too large"}.get(status, "Refused")
        codes = tuple(dict.fromkeys([*own, *general]))
        yield DescribedError(status, title, render_markdown(response["description"]), codes)


def _list_links(document: Mapping[str, Any], operation: Mapping[str, Any]) -> Iterator[str]:
    for response in operation["responses"].values():
        for reference in response.get("links", {}).values():
            name = reference["$ref"].removeprefix("#/components/links/")
            yield document["components"]["links"][name]["operationId"]


def _example_request(
    document: Mapping[str, Any], path: str, method: str, operation: Mapping[str, Any]
) -> ExampleRequest:
    content = operation.get("requestBody", {}).get("content", {})
    examples = content.get("application/json", {}).get("examples", {})
    keyed = any(parameter["name"] == "Idempotency-Key" for parameter in operation.get("parameters", ()))
    query = {
        parameter["name"]: str(parameter["example"]) if "example" in parameter else "80202"
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "query" and parameter.get("required")
    }
    return ExampleRequest(
        method=method.upper(),
        url=document["servers"][0]["url"] + _filled_path(path),
        query=query,
        headers={"Idempotency-Key": "one-for-each-thing-created"} if keyed else {},
        body=next(iter(examples.values()))["value"] if examples else None,
        picture="image/*" in content,
        file_out=_file_out(operation),
    )


def _filled_path(path: str) -> str:
    """The path with an example for each parameter: a value of the demo store, or a placeholder."""

    def example_value(match: re.Match[str]) -> str:
        return EXAMPLE_VALUES.get(match[1], re.sub(r"(?<=[a-z])(?=[A-Z])", "_", match[1]).upper())

    return PLACE.sub(example_value, path)


def _file_out(operation: Mapping[str, Any]) -> str:
    content = operation["responses"].get("200", {}).get("content", {})
    if "application/json" in content:
        return ""
    return {"application/pdf": "file.pdf", "image/png": "icon.png"}.get(next(iter(content), ""), "")


def _read_event(reader: SchemaReader, name: str, operation: Mapping[str, Any]) -> DescribedEvent:
    content = operation["requestBody"]["content"]["application/json"]
    examples = _read_examples(content)
    about, _, remainder = operation["description"].partition(". ")
    return DescribedEvent(
        name=name,
        about=rendered_line(about + "."),
        description=render_markdown(remainder),
        headers=tuple(_read_parameter(reader, parameter) for parameter in operation["parameters"]),
        schema=reader.read(content["schema"]),
        example=examples[0][1] if examples else "",
    )
