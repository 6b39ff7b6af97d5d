"""Badges of states on the pages of records, as in their lists."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from unfold.utils import display_for_label


class BadgeMixin:
    """A column that the list shows as a badge is one on the page of its record."""

    list_display: Any

    @property
    def readonly_preprocess_fields(self) -> dict[str, Callable[[str], str]]:
        labels = {
            name: getattr(getattr(self, name, None), "label", None) for name in map(str, self.list_display)
        }
        return {name: partial(_badge, label) for name, label in labels.items() if isinstance(label, dict)}


def _badge(tones: Mapping[str, str], text: str) -> str:
    return str(display_for_label(text, "", tones)) if text in tones else text
