"""Checks of texts, shared by services and forms of the console."""

from collections.abc import Collection
from typing import Any, ClassVar

from django.core.exceptions import ValidationError

from fulfillment.core.visible_text import has_control_character


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
                errors[name] = [ValidationError("This holds a control character.", "control_character")]
        if errors:
            raise ValidationError(errors)
