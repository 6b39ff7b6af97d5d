"""Checks of texts, shared by services and forms, and the texts that API responses share."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID

from django.core.exceptions import ValidationError
from django.utils.formats import number_format
from django.utils.translation import gettext as _

JsonObject = dict[str, Any]
# The largest value of an integer column.
MAX_INTEGER = 2_147_483_647
# Control characters, and marks that change the reading direction.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
# Codes of this length are names already, such as EDDM.
SHORT = 4
_LINE_BREAKS = re.compile("[\t\n\r\u2028\u2029]")


def has_control_character(text: str, *, multiline: bool = False) -> bool:
    """Line breaks and tabs are control characters, unless it may have several lines."""
    return bool(_CONTROLS.search(text) or (not multiline and _LINE_BREAKS.search(text)))


def storable(text: str) -> str:
    """Removes NUL and replaces lone surrogates, which PostgreSQL cannot store."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


class VisibleText:
    """A mixin for models; put it before other bases."""

    # Fields of one line, and of several.
    visible_lines: ClassVar[tuple[str, ...]] = ()
    visible_texts: ClassVar[tuple[str, ...]] = ()

    def clean_fields(self, exclude: Collection[str] | None = None) -> None:
        errors: dict[str, Any] = {}
        try:
            super().clean_fields(exclude=exclude)  # type: ignore[misc]  # of the model mixed into
        except ValidationError as error:
            errors = error.update_error_dict({})
        for name in {*self.visible_lines, *self.visible_texts} - {*errors, *(exclude or ())}:
            if has_control_character(getattr(self, name), multiline=name in self.visible_texts):
                errors[name] = [ValidationError(_("This contains a control character."), "control_character")]
        if errors:
            raise ValidationError(errors)


def method_name(code: str) -> str:
    """The code of a delivery method in words: `TWO_DAY` is "Two day"."""
    return code if len(code) <= SHORT else code.replace("_", " ").replace("-", " ").capitalize()


def timestamp(moment: datetime) -> str:
    """ISO 8601 in UTC, with Z."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def meta(*messages: str) -> dict[str, list[str]]:
    """Messages about a record, as its representation shows them."""
    return {"Messages": list(messages)}


def in_percent(value: Decimal | int, places: int = 0) -> str:
    """A percentage with the reader's decimal sign and space."""
    return _("%(number)s%%") % {"number": number_format(value, places)}


def parse_uuid(text: str) -> UUID | None:
    """None for text that is not a UUID."""
    try:
        return UUID(text)
    except ValueError:
        return None


def parse_number(text: str, *, most: int = 2**63 - 1) -> int | None:
    """A whole number of ASCII digits up to `most`, else None.

    The length comes first: Python refuses to read numbers of thousands of digits.
    """
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        return None
    number = int(text)
    return number if number <= most else None


# The parent location and the name or index in it; None is the whole value.
Place = tuple["Place", str | int] | None


def pointer_to(place: Place) -> str:
    """The JSON pointer (RFC 6901)."""
    parts: list[str] = []
    while place is not None:
        place, name = place
        parts.append(str(name).replace("~", "~0").replace("/", "~1"))
    return "".join(f"/{part}" for part in reversed(parts))
