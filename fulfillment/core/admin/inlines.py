"""Tables of records within the page of another one."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest
from django.utils.html import format_html
from unfold.admin import TabularInline
from unfold.forms import PaginationInlineFormSet

from fulfillment.core.admin.autocomplete import AutocompleteMixin

# Marked, so that cards of a phone can leave it out.
NOTHING = format_html('<span class="is-nothing">{}</span>', "—")


class LabelledFormSet(PaginationInlineFormSet):
    """Labels each input in a table: for screen readers the column header is not enough."""

    def add_fields(self, form: Any, index: int | None) -> None:
        super().add_fields(form, index)
        for name, field in form.fields.items():
            label = str(field.label or name).capitalize()
            for widget in (field.widget, getattr(field.widget, "widget", None)):
                if widget is not None:
                    widget.attrs.setdefault("aria-label", label)


def with_help(options: dict[str, Any], form: Any, help_texts: Mapping[str, str]) -> dict[str, Any]:
    """Options of a form class, whose own help texts stay beside `help_texts`."""
    own = getattr(getattr(form, "Meta", None), "help_texts", None) or {}
    return {"help_texts": {**own, **help_texts}, **options} if help_texts else options


class ConsoleInline(AutocompleteMixin, TabularInline):
    formset = LabelledFormSet
    extra = 0
    empty_value_display = NOTHING
    # In place of those of the model, by field.
    help_texts: Mapping[str, str] = {}

    def get_formset(self, request: HttpRequest, obj: Any = None, **options: Any) -> Any:
        return super().get_formset(request, obj, **with_help(options, self.form, self.help_texts))
