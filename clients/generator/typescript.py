"""Writes `models.ts` and `resources.ts` of the TypeScript library."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from clients.generator.document import Document, Operation, Parameter, Types
from fulfillment.core.api.declarations import camel, pascal

HEADING = "// {}\n// Written by `make clients` from the OpenAPI description: changes belong there.\n\n"
PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
IMPORTS = """import type * as models from "./models.js";
import { Pages } from "./paging.js";
import { type CallOptions, type Download, type Transport, quoted, type UploadBody } from "./transport.js";
"""


kind_of = Types(
    PLAIN,
    unknown="unknown",
    record="Record<string, {}>",
    array=lambda item, module: f"Array<{item}>",
    choice=lambda values: " | ".join(map(json.dumps, values)),
).kind_of


def write_typescript(document: Document, folder: Path) -> None:
    (folder / "models.ts").write_text("".join(_models(document)))
    (folder / "resources.ts").write_text("".join(_resources(document)))


def _models(document: Document) -> Iterator[str]:
    yield HEADING.format("What the API takes and answers, member by member as it is sent.")
    for name, schema in document.schemas.items():
        yield from _comment(schema.get("description", ""), "")
        if "properties" in schema:
            # Not interfaces: those do not fit where an index signature is taken.
            yield f"export type {name} = {{\n"
            for member, kind in schema["properties"].items():
                yield from _comment(kind.get("description", ""), "  ")
                mark = "" if member in schema.get("required", ()) else "?"
                yield f"  {_key(member)}{mark}: {kind_of(kind, '')};\n"
            yield "};\n\n"
        else:
            yield f"export type {name} = {kind_of(schema, '')};\n\n"


def _resources(document: Document) -> Iterator[str]:
    yield HEADING.format("The operations of the API, in groups.") + IMPORTS
    for group, operations in document.groups.items():
        for operation in operations:
            if operation.query:
                yield from _parameters(operation)
        yield f"\nexport class {pascal(group)} {{\n"
        yield "  readonly #transport: Transport;\n\n"
        yield "  constructor(transport: Transport) {\n    this.#transport = transport;\n  }\n"
        for operation in operations:
            yield from _method(operation)
            if operation.variant:
                yield from _method(operation, operation.variant)
        yield "}\n"
    yield "\n/** What a client offers: each group of operations as a member. */\nexport class Resources {\n"
    for group in document.groups:
        yield f"  readonly {camel(group)}: {pascal(group)};\n"
    yield "\n  constructor(transport: Transport) {\n"
    for group in document.groups:
        yield f"    this.{camel(group)} = new {pascal(group)}(transport);\n"
    yield "  }\n}\n"


def _parameters(operation: Operation) -> Iterator[str]:
    yield f"\nexport type {_parameters_name(operation)} = {{\n"
    for parameter in operation.query:
        yield from _comment(parameter.description, "  ")
        yield f"  {_key(parameter.name)}{'' if parameter.required else '?'}: {_query_kind(parameter)};\n"
    yield "};\n"


def _query_kind(parameter: Parameter) -> str:
    if parameter.schema.get("format") == "date-time":
        return "Date | string"
    if parameter.schema.get("type") == "array":
        return f"ReadonlyArray<{kind_of(parameter.schema['items'])}>"
    return kind_of(parameter.schema)


def _parameters_name(operation: Operation) -> str:
    return f"{pascal(operation.group)}{pascal(operation.name)}Parameters"


def _method(operation: Operation, variant: tuple[str, str] | None = None) -> Iterator[str]:
    name = camel(operation.name) + (variant[0].capitalize() if variant else "")
    kind, how = _response(operation, bool(variant))
    yield "\n"
    yield from _comment(f"{operation.summary}\n\n{operation.description}", "  ")
    yield f"  {name}({', '.join(_arguments(operation))}): {kind} {{\n"
    path = operation.path
    for path_name in operation.path_names:
        path = path.replace("{" + path_name + "}", "${quoted(" + path_name + ")}")
    call = [f'operation: "{operation.id}"', f'method: "{operation.method}"', f"path: `{path}`"]
    if operation.query:
        parameters = ", ".join(
            f"{_key(parameter.name)}: options{_member(parameter.name)}" for parameter in operation.query
        )
        call.append(f"query: {{ {parameters} }}")
    if operation.takes_file:
        call.append("file")
    elif operation.body is not None:
        call.append("body")
    call += ["takesKey: true"] if operation.takes_key else []
    call += ["isRepeatable: true"] if operation.is_repeatable else []
    if variant or operation.is_file:
        call.append(f'accept: "{variant[1] if variant else operation.media}"')
    call.append("options")
    call_options = "{ " + ", ".join(call) + " }"
    if how == "pages":
        yield f"    return new Pages(this.#transport, {call_options});\n  }}\n"
    else:
        yield f"    return this.#transport.{how}({call_options});\n  }}\n"


def _response(operation: Operation, is_variant: bool) -> tuple[str, str]:
    if is_variant or operation.is_file:
        return "Promise<Download>", "file"
    if operation.response is None:
        return "Promise<void>", "nothing"
    if operation.is_paged:
        return f"Pages<{kind_of(operation.response['items'])}>", "pages"
    kind = kind_of(operation.response)
    return f"Promise<{kind}>", f"json<{kind}>"


def _arguments(operation: Operation) -> Iterator[str]:
    for name in operation.path_names:
        yield f"{name}: string"
    if operation.takes_file:
        yield "file: UploadBody"
    elif operation.body is not None:
        kind = re.sub(r"^Array<", "ReadonlyArray<", kind_of(operation.body))
        yield f"body: {kind}" if operation.body_required else f"body?: {kind}"
    query = f"{_parameters_name(operation)} & " if operation.query else ""
    is_required = any(parameter.required for parameter in operation.query)
    yield f"options: {query}CallOptions" + ("" if is_required else " = {}")


def _key(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


def _member(name: str) -> str:
    return f".{name}" if name.isidentifier() else f"[{json.dumps(name)}]"


def _comment(text: str, indent: str) -> Iterator[str]:
    text = text.strip().replace("*/", "*\\/")
    if not text:
        return
    lines = text.splitlines()
    if len(lines) == 1:
        yield f"{indent}/** {text} */\n"
        return
    yield f"{indent}/**\n"
    for line in lines:
        yield f"{indent} * {line}".rstrip() + "\n"
    yield f"{indent} */\n"
