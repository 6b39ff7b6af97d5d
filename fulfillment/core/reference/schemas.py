"""Operations, events and schemas of the OpenAPI document as the API reference shows them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.text import slugify

from fulfillment.core.api.schema import NO_NUL_PATTERN, PATH_PATTERN, QUERY_PATTERN, TEXT_PATTERN
from fulfillment.core.reference.guides import ROOT, Prose, render_markdown

# The depth below which objects show only their type.
MAX_DEPTH = 6
# Patterns for forbidden characters are explained once, in the introduction.
USUAL_PATTERNS = {NO_NUL_PATTERN, PATH_PATTERN, QUERY_PATTERN, TEXT_PATTERN}
LIMITS = (
    ("minLength", "{} or more characters"),
    ("maxLength", "at most {} characters"),
    ("minimum", "at least {}"),
    ("exclusiveMinimum", "more than {}"),
    ("maximum", "at most {}"),
    ("minItems", "{} or more elements"),
    ("maxItems", "at most {} elements"),
    ("maxProperties", "at most {} members"),
    ("default", "default {}"),
    ("multipleOf", "a multiple of {}"),
)


@dataclass(frozen=True, slots=True)
class DescribedMember:
    name: str
    kind: str
    required: bool = False
    description: Prose = field(default_factory=Prose)
    limits: tuple[str, ...] = ()
    pattern: str = ""
    values: tuple[str, ...] = ()
    members: tuple["DescribedMember", ...] = ()
    deprecated: bool = False

    @property
    def count(self) -> int:
        return len(self.members)


class SchemaReader:
    def __init__(self, document: Mapping[str, Any]) -> None:
        self.schemas = document["components"]["schemas"]

    def read(self, schema: Mapping[str, Any], *, name: str = "", required: bool = False) -> DescribedMember:
        """The member described by a schema, with its children."""
        return self._read_member(name, schema, required=required, within=())

    def _read_member(
        self, name: str, schema: Mapping[str, Any], *, required: bool, within: tuple[str, ...]
    ) -> DescribedMember:
        resolved, type_name = self._resolve_schema(schema)
        kind, holder, holder_name = self._find_kind(resolved, type_name)
        members: tuple[DescribedMember, ...] = ()
        if holder is not None and holder_name not in within and len(within) < MAX_DEPTH:
            members = self._read_members(holder, (*within, holder_name))
        elements = self._resolve_schema(resolved.get("items", {}))[0]
        constrained = resolved if "properties" in elements else {**elements, **resolved}
        pattern = constrained.get("pattern", "")
        return DescribedMember(
            name=name,
            kind=kind,
            required=required,
            description=render_markdown(resolved.get("description", "")),
            limits=tuple(
                text.format(_format_value(constrained[key])) for key, text in LIMITS if key in constrained
            ),
            pattern="" if pattern in USUAL_PATTERNS else pattern,
            values=tuple(_format_value(value) for value in constrained.get("enum", ()) if value is not None),
            members=members,
            deprecated=bool(resolved.get("deprecated")),
        )

    def _read_members(
        self, holder: Mapping[str, Any], within: tuple[str, ...]
    ) -> tuple[DescribedMember, ...]:
        if variants := holder.get("oneOf"):
            return tuple(
                self._read_member(_name_of(variant), variant, required=False, within=within)
                for variant in variants
            )
        required = holder.get("required", ())
        return tuple(
            self._read_member(name, schema, required=name in required, within=within)
            for name, schema in holder.get("properties", {}).items()
        )

    def _resolve_schema(self, schema: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
        """Resolves references; returns the last one's name. Siblings of a reference override its target."""
        name = ""
        resolved = dict(schema)
        while "$ref" in resolved or len(resolved.get("allOf", ())) == 1:
            inner = resolved.pop("allOf")[0] if "allOf" in resolved else {"$ref": resolved.pop("$ref")}
            if "$ref" in inner:
                name = _name_of(inner)
                inner = self.schemas[name]
            resolved = {**inner, **resolved}
        return resolved, name

    def _find_kind(self, schema: Mapping[str, Any], name: str) -> tuple[str, Mapping[str, Any] | None, str]:
        """The type as text, and the object whose members are shown below it."""
        choices = schema.get("oneOf") or schema.get("anyOf")
        if choices:
            return self._kind_of_choices(choices, schema, name)
        kinds = schema.get("type", "any value")
        kinds = list(kinds) if isinstance(kinds, list) else [kinds]
        null = " or null" if "null" in kinds else ""
        kinds = [kind for kind in kinds if kind != "null"]
        if kinds == ["array"]:
            text, holder, holder_name = self._find_kind(*self._resolve_schema(schema.get("items", {})))
            return f"array of {text}{null}", holder, holder_name
        text = " or ".join(kinds)
        if schema.get("properties"):
            return f"{text}{null}", schema, name or "object"
        extra = schema.get("additionalProperties")
        if isinstance(extra, Mapping):
            text, holder, holder_name = self._find_kind(*self._resolve_schema(extra))
            return f"object of {text}{null}", holder, holder_name
        if "format" in schema:
            text += f" ({schema['format']})"
        return f"{text}{null}", None, ""

    def _kind_of_choices(
        self, choices: list[Mapping[str, Any]], schema: Mapping[str, Any], name: str
    ) -> tuple[str, Mapping[str, Any] | None, str]:
        null = " or null" if {"type": "null"} in choices else ""
        pairs = [(choice, *self._resolve_schema(choice)) for choice in choices if choice != {"type": "null"}]
        kinds = [self._find_kind(resolved, inner_name) for _, resolved, inner_name in pairs]
        if len(kinds) == 1:
            text, holder, holder_name = kinds[0]
            return text + null, holder, holder_name
        holders = [kind for kind in kinds if kind[1] is not None]
        if len(holders) > 1:
            variants = {"oneOf": [choice for choice, _, _ in pairs]}
            return f"one of {len(kinds)}{null}", variants, name or "choice"
        text = " or ".join(dict.fromkeys(kind[0] for kind in kinds))
        return text + null, *(holders[0][1:] if holders else (None, ""))


def _name_of(reference: Mapping[str, Any]) -> str:
    return str(reference.get("$ref", "")).rpartition("/")[2]


def _format_value(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return f"{value:,}" if isinstance(value, int) else str(value)


@dataclass(frozen=True, slots=True)
class DescribedError:
    status: str
    title: str
    when: Prose
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Response:
    status: str
    description: Prose
    media: tuple[str, ...]
    headers: tuple[DescribedMember, ...]
    schema: DescribedMember | None
    examples: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Body:
    media: tuple[str, ...]
    schema: DescribedMember | None
    examples: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Operation:
    id: str
    title: str
    method: str
    path: str
    tag: str
    description: Prose
    access: Prose
    parameters: tuple[tuple[str, tuple[DescribedMember, ...]], ...]
    body: Body | None
    responses: tuple[Response, ...]
    refusals: tuple[DescribedError, ...]
    samples: tuple[tuple[str, str, str], ...]
    leads_to: tuple[str, ...]
    scopes: tuple[str, ...]
    text: str
    library: tuple[str, ...]
    # What people type to find it.
    phrases: tuple[str, ...]
    # The object of the schema in the document.
    raw: Mapping[str, Any]

    @property
    def url(self) -> str:
        return f"{ROOT}/operations/{self.id}"

    @property
    def codes(self) -> set[str]:
        return {code for refusal in self.refusals for code in refusal.codes}


@dataclass(frozen=True, slots=True)
class DescribedEvent:
    name: str
    about: Prose
    description: Prose
    headers: tuple[DescribedMember, ...]
    schema: DescribedMember
    example: str

    @property
    def url(self) -> str:
        return f"{ROOT}/events/{self.name}"


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    description: str
    operations: tuple[Operation, ...]

    @property
    def slug(self) -> str:
        return slugify(self.name)
