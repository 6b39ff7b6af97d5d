"""Badges of states on the pages of records."""

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from unfold.utils import display_for_label

from fulfillment.core.admin.names import translated_badge
from fulfillment.core.recorded_texts import translated


class BadgeMixin:
    """A column that the list shows as a badge is one on the page of its record."""

    list_display: Any
    # Kept in English, and shown in the reader's language.
    recorded_fields: Collection[str] = ()

    @property
    def readonly_preprocess_fields(self) -> dict[str, Callable[[str], str]]:
        labels = {
            name: getattr(getattr(self, name, None), "label", None) for name in map(str, self.list_display)
        }
        badges = {name: partial(_badge, label) for name, label in labels.items() if isinstance(label, dict)}
        return {**badges, **dict.fromkeys(self.recorded_fields, translated)}


def _badge(tones: Mapping[str, str], text: str) -> str:
    if (badge := translated_badge(text, tones)) is None:
        return text
    shown, tone = badge
    return str(display_for_label(shown, "", {shown: tone}))
