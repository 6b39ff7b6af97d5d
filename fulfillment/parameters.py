"""Query parameters: what is not understood is refused by name."""

from collections.abc import Mapping

from fulfillment.errors import Invalid


def flag_parameter(query: Mapping[str, str], name: str) -> bool:
    """`true` or `false` in any case; absent is false."""
    value = query.get(name, "false").lower()
    if value not in {"true", "false"}:
        raise Invalid.at(f"?{name}", "parameter_invalid", f"{name} is {value[:40]!r}; write true or false.")
    return value == "true"
