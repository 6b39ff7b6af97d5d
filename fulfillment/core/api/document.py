"""Hooks of drf-spectacular for the complete OpenAPI document: declarations and links of apps."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.module_loading import import_string
from drf_spectacular.settings import spectacular_settings

from fulfillment.core.api.declarations import BODY, ETAG, FIRST, LINKED_BODY, LISTED, Link
from fulfillment.core.http.addresses import parameter_name
from fulfillment.core.plugins import offered_values

# Set on a member of a request by `OperationSchema`; `finish_document` makes a type of it.
TAKES_NULL = "x-takes-null"
PATH_PARAMETER = re.compile(r"{(\w+)}")


def add_declarations_of_apps() -> None:
    """Tells drf-spectacular the tags and enumerations of all apps, once they are loaded."""
    tags = sorted(
        (tag for tags in offered_values("openapi", "TAGS") for tag in tags), key=lambda tag: tag.position
    )
    enums = {name: path for enums in offered_values("openapi", "ENUMS") for name, path in enums.items()}
    spectacular_settings.apply_patches(
        {
            "TAGS": [{"name": tag.name, "description": tag.description} for tag in tags],
            "ENUM_NAME_OVERRIDES": enums,
        }
    )


def run_hooks_of_apps(result: dict[str, Any], **options: Any) -> dict[str, Any]:
    for hooks in offered_values("openapi", "HOOKS"):
        for path in hooks:
            result = import_string(path)(result, **options)
    return result


def finish_document(result: dict[str, Any], **options: Any) -> dict[str, Any]:
    result["paths"] = {
        PATH_PARAMETER.sub(_rename_parameter, path): item for path, item in result["paths"].items()
    }
    for item in result["paths"].values():
        for operation in item.values():
            for parameter in operation.get("parameters", ()):
                if parameter["in"] == "path":
                    parameter["name"] = parameter_name(parameter["name"])
    schemas = result["components"]["schemas"]
    for schema in schemas.values():
        for name, member in schema.get("properties", {}).items():
            if _pop_mark(member):
                schema["properties"][name] = allow_null(member)
    result["components"]["schemas"] = dict(sorted(schemas.items()))
    return result


def _pop_mark(member: dict[str, Any]) -> bool:
    schemas = [member, *member.get("anyOf", ())]
    return any(schema.pop(TAKES_NULL, False) for schema in schemas)


def _rename_parameter(match: re.Match[str]) -> str:
    return "{" + parameter_name(match[1]) + "}"


def allow_null(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema, extended by null."""
    if "type" in schema:
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return {**schema, "type": list(dict.fromkeys([*kinds, "null"]))}
    if "anyOf" in schema:
        return {**schema, "anyOf": [*schema["anyOf"], {"type": "null"}]}
    reference = {"$ref": schema["$ref"]} if "$ref" in schema else schema["allOf"][0]
    about = {name: value for name, value in schema.items() if name not in {"$ref", "allOf"}}
    return {"oneOf": [reference, {"type": "null"}], **about}


def add_links(result: dict[str, Any], **options: Any) -> dict[str, Any]:
    """A hook of drf-spectacular, for the finished document."""
    components = result["components"].setdefault("links", {})
    links_of_component, links_after = _collect_links("LINKS"), _collect_links("LINKS_AFTER")
    with_etag = {name for names in offered_values("openapi", "WITH_ETAG") for name in names}
    for operation, response, shown, listed in _list_responses(result):
        links = links_of_component.get(shown, ()) + links_after.get(operation, ())
        for link in links:
            if link.to == operation:
                continue
            name = f"{shown}{'.first' if listed else ''}.{link.to}"
            components[name] = _link_object(link, listed)
            response.setdefault("links", {})[link.to] = {"$ref": f"#/components/links/{name}"}
        if shown in with_etag and not listed:
            tag = {
                "description": "The current version of the record.",
                "schema": {"type": "string"},
                "required": True,
            }
            response["headers"] = {**response.get("headers", {}), "ETag": tag}
    return result


def _collect_links(name: str) -> dict[str, tuple[Link, ...]]:
    joined: dict[str, tuple[Link, ...]] = {}
    for links in offered_values("openapi", name):
        for key, other_links in links.items():
            joined[key] = joined.get(key, ()) + other_links
    return joined


def _list_responses(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], str, bool]]:
    """ID of the operation, the response, the component it shows, and whether a list of it."""
    for path in document["paths"].values():
        for operation in path.values():
            for status, response in operation["responses"].items():
                schema = response.get("content", {}).get("application/json", {}).get("schema", {})
                listed = schema.get("type") == "array"
                reference = (schema["items"] if listed else schema).get("$ref")
                if status.startswith("2") and reference:
                    yield operation["operationId"], response, reference.rpartition("/")[2], listed


def _link_object(link: Link, listed: bool) -> dict[str, Any]:
    # A list has no ETag of a single record.
    parameters = {name: value for name, value in link.parameters.items() if not (listed and name in ETAG)}
    described: dict[str, Any] = {
        "operationId": link.to,
        "description": (LISTED if listed else "") + link.says,
    }
    if parameters:
        described["parameters"] = _link_values(parameters, listed)
    if link.body:
        described[LINKED_BODY] = _link_values(link.body, listed)
    return described


def _link_values(value: Any, listed: bool) -> Any:
    if isinstance(value, Mapping):
        return {name: _link_values(part, listed) for name, part in value.items()}
    if isinstance(value, list):
        return [_link_values(part, listed) for part in value]
    return value.replace(BODY, FIRST) if listed else value
