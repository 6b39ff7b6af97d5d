"""Where a member of a body takes null, the schema says so; and where the schema says so, it is taken."""

from typing import Any

import pytest

from fulfillment import urls
from fulfillment.core.api.schema import schema_document
from fulfillment.core.api.serializers import StrictSerializer

assert urls.API  # so that every serializer is known


def request_serializers() -> dict[str, type[StrictSerializer]]:
    """By the name of their schema, all that some request is described by."""
    schemas = schema_document()["components"]["schemas"]
    serializers: dict[str, type[StrictSerializer]] = {}
    waiting = list(StrictSerializer.__subclasses__())
    while waiting:
        serializer = waiting.pop()
        waiting += serializer.__subclasses__()
        renamed = getattr(serializer, "_spectacular_annotation", {}).get("component_name")
        name = renamed or serializer.__name__.removesuffix("Serializer")
        # One that is answered as well has a schema of its own for requests.
        name = f"{name}Request" if f"{name}Request" in schemas else name
        if serializer.__module__.split(".")[0] != "tests" and name in schemas:
            serializers[name] = serializer
    return serializers


def takes_null(schema: dict[str, Any]) -> bool:
    kinds = schema.get("type", [])
    parts = [*schema.get("oneOf", []), *schema.get("anyOf", [])]
    return "null" in ([kinds] if isinstance(kinds, str) else kinds) or any(takes_null(part) for part in parts)


def members() -> list[tuple[str, str]]:
    return [
        (name, member)
        for name, serializer in sorted(request_serializers().items())
        for member, field in serializer().fields.items()
        if not field.read_only
    ]


@pytest.mark.parametrize(("name", "member"), members())
def test_null_is_taken_where_the_schema_says_so(name, member, db):
    described = schema_document()["components"]["schemas"][name]["properties"][member]
    # An item without a Quantity needs a selection.
    others = {"EddmSelectionID": "selection"} if member == "Quantity" else {}
    serializer = request_serializers()[name](data={member: None, **others})

    serializer.is_valid()

    assert (member not in serializer.errors) == takes_null(described)
