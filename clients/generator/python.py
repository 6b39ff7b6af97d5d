"""Writes `models.py` and `resources.py` of the Python library."""

import keyword
import textwrap
from collections.abc import Iterator
from pathlib import Path

from clients.generator.document import Document, NotUnderstood, Operation, Schema, Types
from fulfillment.core.api.declarations import pascal, snake

HEADING = '"""{}\n\nWritten by `make clients` from the OpenAPI description: changes belong there.\n"""\n'
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
MODELS_IMPORTS = """
from __future__ import annotations

import sys
from typing import Any, Literal, Union

if sys.version_info >= (3, 11):
    from typing import NotRequired, TypedDict
else:
    from typing_extensions import NotRequired, TypedDict

"""
RESOURCES_IMPORTS = """
from __future__ import annotations

from builtins import list as List
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from store_fulfillment import models
from store_fulfillment._calls import Call, File, quoted
from store_fulfillment._paging import AsyncPages, Pages
from store_fulfillment._transport import AsyncDownload, AsyncTransport, Download, Transport
"""


kind_of = Types(
    PLAIN,
    unknown="Any",
    record="dict[str, {}]",
    array=lambda item, module: f"List[{item}]" if module else f"list[{item}]",
    choice=lambda values: f"Literal[{', '.join(map(repr, values))}]",
).kind_of


def write_python(document: Document, package: Path) -> None:
    (package / "models.py").write_text("".join(_models(document)))
    (package / "resources.py").write_text("".join(_resources(document)))


def _models(document: Document) -> Iterator[str]:
    yield HEADING.format("What the API takes and answers, member by member as it is sent.") + MODELS_IMPORTS
    aliases = []
    for name, schema in document.schemas.items():
        if "properties" in schema:
            yield _model(name, schema)
        else:
            aliases.append((name, schema))
    # After the classes: an alias is evaluated. Enumerations first, for unions may name them.
    for name, schema in sorted(aliases, key=lambda one: "enum" not in one[1]):
        yield f"\n{name} = {_alias(schema)}\n"


def _alias(schema: Schema) -> str:
    if "oneOf" in schema:
        return "Union[" + ", ".join(kind_of(variant, "") for variant in schema["oneOf"]) + "]"
    return kind_of(schema, "")


def _model(name: str, schema: Schema) -> str:
    lines = [f"\n\nclass {name}(TypedDict):"]
    if text := schema.get("description"):
        lines += _quoted(text, 4)
    for member, kind in schema["properties"].items():
        if not member.isidentifier() or keyword.iskeyword(member):
            raise NotUnderstood(f"{name}: the member {member}")
        annotation = kind_of(kind, "")
        annotation = annotation if member in schema.get("required", ()) else f"NotRequired[{annotation}]"
        lines.append(f"    {member}: {annotation}")
        if text := kind.get("description"):
            lines += _quoted(text, 4)
    return "\n".join(lines) + "\n"


def _resources(document: Document) -> Iterator[str]:
    yield HEADING.format("The operations of the API, in groups.") + RESOURCES_IMPORTS
    for group, operations in document.groups.items():
        for prefix in ("", "Async"):
            yield f"\n\nclass {prefix}{pascal(group)}:\n"
            yield f"    def __init__(self, transport: {prefix}Transport) -> None:\n"
            yield "        self._transport = transport\n"
            for operation in operations:
                yield _method(operation, is_async=bool(prefix))
                if operation.variant:
                    yield _method(operation, is_async=bool(prefix), variant=operation.variant)
    for prefix in ("", "Async"):
        yield f"\n\nclass {prefix}Resources:\n"
        yield '    """What a client offers: each group of operations as an attribute."""\n\n'
        yield f"    def __init__(self, transport: {prefix}Transport) -> None:\n"
        for group in document.groups:
            yield f"        self.{group} = {prefix}{pascal(group)}(transport)\n"


def _method(operation: Operation, *, is_async: bool, variant: tuple[str, str] | None = None) -> str:
    name = f"{operation.name}_{variant[0]}" if variant else operation.name
    kind, how = _response(operation, is_async, bool(variant))
    is_paged = how == "pages"
    word = "async def" if is_async and not is_paged else "def"
    lines = ["", f"    {word} {name}("]
    lines += [f"        {argument}," for argument in ["self", *_arguments(operation)]]
    lines += [f"    ) -> {kind}:", *_quoted(f"{operation.summary}\n\n{operation.description}", 8)]
    lines += [
        "        call = Call(",
        *(f"            {argument}," for argument in _call(operation, variant)),
        "        )",
    ]
    prefix = "Async" if is_async else ""
    wait = "await " if is_async else ""
    if is_paged:
        lines.append(f"        return {prefix}Pages(self._transport, call)")
    elif kind == "None":
        lines.append(f"        {wait}self._transport.{how}(call)")
    else:
        lines += [f"        result: {kind} = {wait}self._transport.{how}(call)", "        return result"]
    return "\n".join(lines) + "\n"


def _response(operation: Operation, is_async: bool, is_variant: bool) -> tuple[str, str]:
    """The type of the response, and the method of the transport."""
    prefix = "Async" if is_async else ""
    if is_variant or operation.is_file:
        return f"{prefix}Download", "file"
    if operation.response is None:
        return "None", "nothing"
    if operation.is_paged:
        return f"{prefix}Pages[{kind_of(operation.response['items'])}]", "pages"
    return kind_of(operation.response), "json"


def _arguments(operation: Operation) -> Iterator[str]:
    for name in operation.path_names:
        yield f"{snake(name)}: str"
    if operation.takes_file:
        yield "file: File"
    elif operation.body is not None:
        # Any mapping or sequence, because the library only reads it.
        kind = kind_of(operation.body).replace("dict[", "Mapping[", 1).replace("List[", "Sequence[", 1)
        yield f"body: {kind}" if operation.body_required else f"body: {kind} | None = None"
    yield "*"
    for parameter in operation.query:
        kind = _query_kind(parameter.schema)
        yield (
            f"{snake(parameter.name)}: {kind}"
            if parameter.required
            else f"{snake(parameter.name)}: {kind} | None = None"
        )
    if operation.takes_file:
        yield "content_type: str | None = None"
    if operation.takes_match:
        yield "if_match: str | None = None"
    if operation.takes_key:
        yield "idempotency_key: str | None = None"
    yield "timeout: float | None = None"


def _query_kind(schema: Schema) -> str:
    if schema.get("format") == "date-time":
        return "datetime | str"
    if schema.get("type") == "array":
        return f"Sequence[{kind_of(schema['items'])}]"
    return kind_of(schema)


def _call(operation: Operation, variant: tuple[str, str] | None) -> Iterator[str]:
    path = operation.path
    for name in operation.path_names:
        path = path.replace("{" + name + "}", "{quoted(" + snake(name) + ")}")
    yield repr(operation.id)
    yield repr(operation.method)
    yield f'f"{path}"' if operation.path_names else f'"{path}"'
    if operation.query:
        yield (
            "query={"
            + ", ".join(f'"{parameter.name}": {snake(parameter.name)}' for parameter in operation.query)
            + "}"
        )
    if operation.takes_file:
        yield "file=file"
        yield "content_type=content_type"
    elif operation.body is not None:
        yield "body=body"
    if operation.takes_match:
        yield "if_match=if_match"
    if operation.takes_key:
        yield "idempotency_key=idempotency_key"
        yield "takes_key=True"
    if operation.is_repeatable:
        yield "is_repeatable=True"
    if variant or operation.is_file:
        yield f'accept="{variant[1] if variant else operation.media}"'
    yield "timeout=timeout"


def _quoted(text: str, indent: int) -> list[str]:
    """A docstring; a description may hold quotes and backslashes."""
    text = text.strip().replace("\\", "\\\\").replace('"""', "'''")
    text = text[:-1] + '\\"' if text.endswith('"') else text
    lines: list[str] = []
    for paragraph in text.splitlines():
        lines += textwrap.wrap(paragraph, 110 - indent, break_long_words=False) or [""]
    opening = " " * indent + f'"""{lines[0]}'
    if len(lines) == 1:
        return [f'{opening}"""']
    return [opening, *((" " * indent + line).rstrip() for line in lines[1:]), " " * indent + '"""']
