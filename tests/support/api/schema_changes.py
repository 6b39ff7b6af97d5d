"""What a change of the API's description takes away from those who use it: the promise of docs/versioning.md."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

METHODS = ("get", "post", "put", "patch", "delete")
Schema = Mapping[str, Any]


def breaking_changes(before: Schema, after: Schema) -> list[str]:
    """One line for each; empty where every client of `before` goes on with `after`."""
    return list(dict.fromkeys(_Comparison(before, after).all()))


def _operations(document: Schema) -> dict[str, Schema]:
    return {
        f"{method.upper()} {re.sub('{[^}]*}', '{}', path)}": operation
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    }


def _parameters(operation: Schema) -> dict[tuple[str, str], Schema]:
    """Those in the path have a place, not a name, where a request is made."""
    return {
        (parameter["in"], parameter["name"]): parameter
        for parameter in operation.get("parameters", ())
        if parameter["in"] != "path"
    }


class _Comparison:
    def __init__(self, before: Schema, after: Schema) -> None:
        self.before, self.after = before, after

    def all(self) -> Iterator[str]:
        after = _operations(self.after)
        for name, operation in _operations(self.before).items():
            if name not in after:
                yield f"{name} is gone"
                continue
            if operation["operationId"] != after[name]["operationId"]:
                yield f"{name} has another operationId"
            yield from self._inputs(name, operation, after[name])
            yield from self._answers(name, operation, after[name])
        for event in self.before.get("webhooks", {}):
            if event not in self.after.get("webhooks", {}):
                yield f"the event {event} is gone"
                continue
            sent = (
                hooks[event]["post"]["requestBody"]["content"]
                for hooks in (self.before_hooks, self.after_hooks)
            )
            yield from self._contents(f"event {event}", *sent, shown=True)

    @property
    def before_hooks(self) -> Schema:
        return _hooks(self.before)

    @property
    def after_hooks(self) -> Schema:
        return _hooks(self.after)

    def _inputs(self, name: str, before: Schema, after: Schema) -> Iterator[str]:
        old, new = _parameters(before), _parameters(after)
        for key, parameter in old.items():
            if key not in new:
                yield f"{name}: the parameter {key[1]} is gone"
            else:
                yield from self._types(
                    f"{name} ?{key[1]}", parameter["schema"], new[key]["schema"], shown=False
                )
        for key, parameter in new.items():
            if parameter.get("required") and not old.get(key, {}).get("required"):
                yield f"{name}: the parameter {key[1]} became required"
        old_body, new_body = before.get("requestBody", {}), after.get("requestBody", {})
        if new_body.get("required") and not old_body.get("required"):
            yield f"{name}: a body became required"
        yield from self._contents(name, old_body.get("content", {}), new_body.get("content", {}), shown=False)

    def _answers(self, name: str, before: Schema, after: Schema) -> Iterator[str]:
        for status, response in before["responses"].items():
            if status not in after["responses"]:
                yield f"{name}: the answer {status} is gone"
                continue
            new = after["responses"][status]
            for header in response.get("headers", {}).keys() - new.get("headers", {}).keys():
                yield f"{name} {status}: the header {header} is gone"
            where = f"{name} {status}"
            yield from self._contents(where, response.get("content", {}), new.get("content", {}), shown=True)

    def _contents(self, where: str, before: Schema, after: Schema, *, shown: bool) -> Iterator[str]:
        for media_type, content in before.items():
            if media_type not in after:
                yield f"{where}: {media_type} is gone"
            elif "schema" in content:
                yield from self._types(where, content["schema"], after[media_type]["schema"], shown=shown)

    def _types(
        self, where: str, before: Schema, after: Schema, *, shown: bool, seen: frozenset[str] = frozenset()
    ) -> Iterator[str]:
        """`shown` in answers, where more may come; else in requests, where less may be required."""
        reference = str(before.get("$ref", ""))
        if reference in seen:
            return
        seen = seen | {reference} if reference else seen
        old, new = _resolved(self.before, before), _resolved(self.after, after)
        gone, come = (
            _kinds(self.before, old) - _kinds(self.after, new),
            _kinds(self.after, new) - _kinds(self.before, old),
        )
        changed = come if shown else gone
        if changed:
            yield f"{where}: the type {', '.join(sorted(changed))} is {'new' if shown else 'gone'}"
        yield from _enumerations(where, old, new, shown=shown)
        yield from _bounds(where, old, new) if not shown else ()
        if "items" in old and "items" in new:
            yield from self._types(f"{where}[]", old["items"], new["items"], shown=shown, seen=seen)
        members, others = old.get("properties", {}), new.get("properties", {})
        for name, member in members.items():
            if name not in others:
                yield f"{where}.{name} is gone"
            else:
                yield from self._types(f"{where}.{name}", member, others[name], shown=shown, seen=seen)
        needed, left = set(old.get("required", ())), set(new.get("required", ()))
        for name in sorted(needed - left) if shown else sorted(left - needed):
            yield f"{where}.{name} {'may be absent now' if shown else 'became required'}"
        for one, other in zip(_alternatives(old), _alternatives(new), strict=False):
            yield from self._types(where, one, other, shown=shown, seen=seen)


def _alternatives(schema: Schema) -> list[Schema]:
    return [*schema.get("oneOf", ()), *schema.get("anyOf", ())]


def _resolved(document: Schema, schema: Schema) -> Schema:
    while "$ref" in schema or len(schema.get("allOf", ())) == 1:
        inner = schema["allOf"][0] if "$ref" not in schema else {}
        reference = schema.get("$ref")
        about = {name: value for name, value in schema.items() if name not in {"$ref", "allOf"}}
        target = document["components"]["schemas"][reference.rpartition("/")[2]] if reference else inner
        schema = {**about, **target}
    return schema


def _kinds(document: Schema, schema: Schema) -> set[str]:
    schema = _resolved(document, schema)
    alternatives = _alternatives(schema)
    if alternatives:
        return set().union(*(_kinds(document, alternative) for alternative in alternatives))
    kinds = schema.get("type", [])
    return {kinds} if isinstance(kinds, str) else set(kinds)


def _enumerations(where: str, before: Schema, after: Schema, *, shown: bool) -> Iterator[str]:
    old, new = before.get("enum"), after.get("enum")
    if shown and old is None and new is not None:
        return
    if not shown and old is None and new is not None:
        yield f"{where}: takes only some values now"
    for value in old or ():
        if new is not None and value not in new:
            yield f"{where}: the value {value} is gone"


def _bounds(where: str, before: Schema, after: Schema) -> Iterator[str]:
    for name, is_narrower in (
        ("maxLength", lambda old, new: new < old),
        ("maxItems", lambda old, new: new < old),
        ("maximum", lambda old, new: new < old),
        ("minLength", lambda old, new: new > old),
        ("minItems", lambda old, new: new > old),
        ("minimum", lambda old, new: new > old),
    ):
        old, new = before.get(name), after.get(name)
        starts = 0 if name in {"minLength", "minItems"} else None
        if new is not None and (new != starts if old is None else is_narrower(old, new)):
            yield f"{where}: {name} is narrower"
    if after.get("pattern") not in {None, before.get("pattern")}:
        yield f"{where}: the pattern is another one"
    if before.get("additionalProperties", True) is not False and after.get("additionalProperties") is False:
        yield f"{where}: other members are refused now"


def _hooks(document: Schema) -> Schema:
    """By name, whether they stand in `webhooks` or are named there."""
    items = document["components"].get("pathItems", {})
    return {
        name: items[item["$ref"].rpartition("/")[2]] if "$ref" in item else item
        for name, item in document["webhooks"].items()
    }
