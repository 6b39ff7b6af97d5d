"""Adds the links that apps declare to every response that shows a component, alone or in a list."""

from collections.abc import Iterator, Mapping
from typing import Any

from fulfillment.core.api.declarations import BODY, ETAG, FIRST, LINKED_BODY, LISTED, Link
from fulfillment.core.plugins import offered


def add_links(result: dict[str, Any], **options: Any) -> dict[str, Any]:
    """A hook of drf-spectacular, for the finished document."""
    components = result["components"].setdefault("links", {})
    links_of_component, links_after = _joined("LINKS"), _joined("LINKS_AFTER")
    with_etag = {name for names in offered("openapi", "WITH_ETAG") for name in names}
    for operation, answer, shown, listed in _answers(result):
        links = links_of_component.get(shown, ()) + links_after.get(operation, ())
        for link in links:
            if link.to == operation:
                continue
            name = f"{shown}{'.first' if listed else ''}.{link.to}"
            components[name] = _described(link, listed)
            answer.setdefault("links", {})[link.to] = {"$ref": f"#/components/links/{name}"}
        if shown in with_etag and not listed:
            tag = {"description": "The version shown here.", "schema": {"type": "string"}, "required": True}
            answer["headers"] = {**answer.get("headers", {}), "ETag": tag}
    return result


def _joined(name: str) -> dict[str, tuple[Link, ...]]:
    joined: dict[str, tuple[Link, ...]] = {}
    for links in offered("openapi", name):
        for key, more in links.items():
            joined[key] = joined.get(key, ()) + more
    return joined


def _answers(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], str, bool]]:
    """ID of the operation, the answer, the component it shows, and whether a list of it."""
    for path in document["paths"].values():
        for operation in path.values():
            for status, answer in operation["responses"].items():
                schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
                listed = schema.get("type") == "array"
                reference = (schema["items"] if listed else schema).get("$ref")
                if status.startswith("2") and reference:
                    yield operation["operationId"], answer, reference.rpartition("/")[2], listed


def _described(link: Link, listed: bool) -> dict[str, Any]:
    # A list has no ETag of a single record.
    parameters = {name: value for name, value in link.parameters.items() if not (listed and name in ETAG)}
    described: dict[str, Any] = {
        "operationId": link.to,
        "description": (LISTED if listed else "") + link.says,
    }
    if parameters:
        described["parameters"] = _placed(parameters, listed)
    if link.body:
        described[LINKED_BODY] = _placed(link.body, listed)
    return described


def _placed(value: Any, listed: bool) -> Any:
    if isinstance(value, Mapping):
        return {name: _placed(one, listed) for name, one in value.items()}
    if isinstance(value, list):
        return [_placed(one, listed) for one in value]
    return value.replace(BODY, FIRST) if listed else value
