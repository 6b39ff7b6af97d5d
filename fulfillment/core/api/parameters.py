"""Query parameters: what is not understood is refused by name."""

from collections.abc import Mapping

from fulfillment.core.errors import Invalid


def flag_parameter(query: Mapping[str, str], name: str) -> bool:
    """`true` or `false` in any case; absent is false."""
    value = query.get(name, "false").lower()
    if value not in {"true", "false"}:
        raise Invalid.at(f"?{name}", "parameter_invalid", f"{name} is {value[:40]!r}; write true or false.")
    return value == "true"


def whole_parameter(query: Mapping[str, str], name: str, *, default: int, most: int) -> int:
    """A whole number from 1 to `most`."""
    text = query.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= most):
        message = f"{name}: write a whole number from 1 to {most}; found {text[:40]!r}."
        raise Invalid.at(f"?{name}", "parameter_invalid", message)
    return int(text)
