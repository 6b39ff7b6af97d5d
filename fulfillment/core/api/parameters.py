"""Query parameters: unknown ones are refused by name; `after` and `take` page through lists (RFC 8288)."""

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from functools import cache
from typing import Any, TypeVar
from urllib.parse import urlencode

from django.conf import settings
from django.db.models import TextChoices
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError

from fulfillment.core.api.serializers import Timestamp
from fulfillment.core.errors import MAX_LISTED, Fault, Invalid
from fulfillment.core.text import parse_number
from printing.text import did_you_mean

State = TypeVar("State", bound=TextChoices)
AFTER = OpenApiParameter(
    "after", str, description="The position after the last page, from its `Link` header."
)
LINK_TO_NEXT = 'The next page, as `<URL>; rel="next"`. Not sent on the last page.'


@cache
def declared_parameters(view_class: type, action: str) -> tuple[str, ...]:
    """The query parameters of an action, from the `extend_schema` that the description is made of."""
    schema = getattr(view_class, action).kwargs["schema"]()
    schema.view = view_class()
    schema.view.action, schema.view.request, schema.view.kwargs, schema.method = action, None, {}, ""
    return tuple(
        parameter.name
        for parameter in schema.get_override_parameters()
        if parameter.location == OpenApiParameter.QUERY
    )


def unknown_parameter_faults(names: Iterable[str], allowed: Collection[str]) -> list[Fault]:
    hint = f"Allowed: {', '.join(allowed)}." if allowed else "This operation takes no parameters."
    unknown = [name for name in names if name not in allowed]
    near = did_you_mean(unknown, allowed)
    return [
        Fault(
            f"?{name[:40]}",
            "parameter_invalid",
            f"{name[:40]}: there is no parameter of this name. {hint}{near.get(name, '')}",
        )
        for name in unknown
    ]


def refuse_unknown_parameters(names: Iterable[str], allowed: Collection[str]) -> None:
    """Refuses unknown parameters, so that a misspelt filter is not silently ignored."""
    faults = unknown_parameter_faults(names, allowed)
    if faults:
        message = (
            faults[0].message if len(faults) == 1 else f"{len(faults)} query parameters are not known here."
        )
        listed, count = faults[:MAX_LISTED], len(faults)
        raise Invalid(message, code="parameter_invalid", faults=listed, fault_count=count)


def check_parameter_names(view: Any, query: Mapping[str, str]) -> None:
    """Serves views that do not read their whole query themselves (`reads_own_query`)."""
    if view.action not in {None, "metadata"}:
        view_class: Any = type(view)
        refuse_unknown_parameters(query, declared_parameters(view_class, view.action))


def parse_flag(query: Mapping[str, str], name: str) -> bool:
    """`true` or `false` in any case; absent is false."""
    value = query.get(name, "false").lower()
    if value not in {"true", "false"}:
        raise Invalid.at(f"?{name}", "parameter_invalid", f"{name} is {value[:40]!r}; write true or false.")
    return value == "true"


def parse_whole_number(
    query: Mapping[str, str], name: str, *, default: int, most: int, least: int = 1
) -> int:
    """A whole number from `least` to `most`."""
    text = query.get(name)
    if text is None:
        return default
    number = parse_number(text, most=most)
    if number is None or number < least:
        message = f"{name}: write a whole number from {least} to {most}; found {text[:40]!r}."
        raise Invalid.at(f"?{name}", "parameter_invalid", message)
    return number


def parse_state(query: Mapping[str, str], states: type[State]) -> State | None:
    """The state of this name, in any case; absent or empty is None."""
    name = query.get("state")
    if not name:
        return None
    for state in states:
        if state.value.lower() == name.lower():
            return state
    words = _("state is %(state)r; allowed: %(allowed)s.") % {
        "state": name[:40],
        "allowed": ", ".join(states.values),
    }
    raise Invalid.at("?state", "state_unknown", words)


def parse_timestamp(query: Mapping[str, str], name: str) -> datetime | None:
    text = query.get(name)
    if text is None:
        return None
    try:
        # An offset's plus sign that was not encoded arrives as a space.
        return Timestamp().to_internal_value(re.sub(r" (?=\d\d:?\d\d\Z)", "+", text))
    except ValidationError as error:
        example = "2026-03-01T12:00:00Z"
        message = f"{name}: write an ISO 8601 date and time such as {example}; found {text[:40]!r}."
        raise Invalid.at(f"?{name}", "parameter_invalid", message) from error


def take_parameter(*, default: int, largest: int) -> OpenApiParameter:
    return OpenApiParameter("take", {"type": "integer", "minimum": 1, "maximum": largest, "default": default})


def link_header(description: str = LINK_TO_NEXT) -> OpenApiParameter:
    return OpenApiParameter("Link", str, OpenApiParameter.HEADER, response=[200], description=description)


def next_page(path: str, query: Iterable[tuple[str, str]], after: str) -> dict[str, str]:
    """The header that leads to the page after `after`, with the other parameters of this query."""
    parameters = [(name, value) for name, value in query if name != "after"]
    following = urlencode([*parameters, ("after", after)])
    return {"Link": f'<{settings.API_URL}{path}?{following}>; rel="next"'}
