"""Tables of records within the page of another one, and the choice of a related record."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.contrib.admin.widgets import RelatedFieldWidgetWrapper
from django.core.exceptions import ValidationError
from django.core.validators import EMPTY_VALUES
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.admin import TabularInline
from unfold.forms import PaginationInlineFormSet
from unfold.widgets import UnfoldAdminSelectWidget

# The number of suggestions; with more records and without a script, the field takes an ID.
MAX_SUGGESTIONS = 50
EMPTY_ROW = "__prefix__"
CHOOSE = gettext_lazy("Choose …")
# Marked, so that cards of a phone can leave it out.
NOTHING = format_html('<span class="is-nothing">{}</span>', "—")


class AutocompleteWidget(UnfoldAdminSelectWidget):
    offered: Sequence[Any] = ()

    class Media:
        js = ["console/choose.js"]

    def __init__(self, field: Any, admin_site: Any, using: str | None = None) -> None:
        super().__init__()
        self.field, self.admin_site, self.db = field, admin_site, using

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        # Unordered: sorting a large table only to find that it has too many rows would be slow.
        records = self.choices.queryset.using(self.db).order_by()
        is_new_row = EMPTY_ROW in name
        records_offered = [] if is_new_row else list(records[: MAX_SUGGESTIONS + 1])
        is_all = len(records_offered) <= MAX_SUGGESTIONS
        self.offered = sorted(records_offered, key=self._name_record) if is_all else []
        by_typing = self._by_typing() if is_new_row or not is_all else {}
        select: SafeString = super().render(name, value, {**(attrs or {}), **by_typing}, renderer)
        return select if is_all else select + self._id_input(name, value)

    def _by_typing(self) -> dict[str, str]:
        """The address where `choose.js` looks the records up."""
        opts = self.field.model._meta
        query = {"app_label": opts.app_label, "model_name": opts.model_name, "field_name": self.field.name}
        address = reverse(f"{self.admin_site.name}:autocomplete")
        return {
            "data-choose": f"{address}?{urlencode(query)}",
            "data-hint": _("Type to search"),
            "data-nothing": _("Nothing found"),
            "data-more": _("There are more results. Type more of the name."),
            "data-failed": _("The search did not respond. Try again."),
        }

    def _id_input(self, name: str, value: Any) -> SafeString:
        opts = self.field.remote_field.model._meta
        address = reverse(f"{self.admin_site.name}:{opts.app_label}_{opts.model_name}_changelist")
        context = {"name": name, "value": value or "", "kind": opts.verbose_name, "list": address}
        return render_to_string("admin/choosing.html", context)

    def optgroups(self, name: str, value: Sequence[Any], attrs: Any = None) -> list[Any]:
        """The chosen record as option. An invalid key is not looked up here: the field reports it."""
        selected = {str(key) for key in value if self._is_key(key)}
        record_by_key = {str(record.pk): record for record in self.offered}
        if selected - set(record_by_key):
            record_by_key |= {
                str(record.pk): record
                for record in self.choices.queryset.using(self.db).filter(pk__in=selected)
            }
        is_only = self.is_required and len(record_by_key) == 1
        # Never preselects the first record.
        needs_blank = not self.is_required or not (selected or is_only)
        options = [self.create_option(name, "", CHOOSE, not selected, 0)] if needs_blank else []
        for key, record in record_by_key.items():
            options.append(
                self.create_option(name, key, self._name_record(record), key in selected, len(options))
            )
        return [(None, options, 0)]

    def _name_record(self, record: Any) -> str:
        chosen_from: Any = self.admin_site.get_model_admin(self.field.remote_field.model)
        label: str = chosen_from.disambiguated_label(record)
        return label

    def _is_key(self, value: Any) -> bool:
        try:
            self.field.remote_field.model._meta.pk.clean(str(value), None)
        except ValidationError:
            return False
        return bool(str(value))


class AutocompleteMixin:
    """Uses this widget in admins and inlines for `autocomplete_fields`."""

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        """Removes the menu that opens related records in other windows, which needs jQuery. A field without a default
        starts empty, so that no choice is made by accident."""
        field: Any = super().formfield_for_dbfield(db_field, request, **options)  # type: ignore[misc]  # of the admin
        if field and isinstance(field.widget, RelatedFieldWidgetWrapper):
            field.widget = field.widget.widget
        if isinstance(field, forms.ModelChoiceField):
            field.empty_label = CHOOSE if field.empty_label else None
        elif isinstance(field, forms.TypedChoiceField):
            choices: Any = field.choices
            choices = list(choices)
            nonempty = [choice for choice in choices if choice[0] not in EMPTY_VALUES]
            has_empty = len(nonempty) < len(choices) or not db_field.has_default()
            field.choices = [*([("", CHOOSE)] if has_empty else []), *nonempty]
        return field

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        admin: Any = self
        if db_field.name in admin.get_autocomplete_fields(request):
            options.setdefault(
                "widget", AutocompleteWidget(db_field, admin.admin_site, using=options.get("using"))
            )
        return super().formfield_for_foreignkey(db_field, request, **options)  # type: ignore[misc]  # of the admin


class LabelledFormSet(PaginationInlineFormSet):
    """Labels each input in a table: for screen readers the column header is not enough."""

    def add_fields(self, form: Any, index: int | None) -> None:
        super().add_fields(form, index)
        for name, field in form.fields.items():
            label = str(field.label or name).capitalize()
            for widget in (field.widget, getattr(field.widget, "widget", None)):
                if widget is not None:
                    widget.attrs.setdefault("aria-label", label)


def add_help_texts(options: dict[str, Any], form: Any, help_texts: Mapping[str, str]) -> dict[str, Any]:
    """Options of a form class, whose own help texts stay beside `help_texts`."""
    own = getattr(getattr(form, "Meta", None), "help_texts", None) or {}
    return {"help_texts": {**own, **help_texts}, **options} if help_texts else options


class ConsoleInline(AutocompleteMixin, TabularInline):
    formset = LabelledFormSet
    extra = 0
    empty_value_display = NOTHING
    # Help texts by field, instead of those of the model.
    help_texts: Mapping[str, str] = {}

    def get_formset(self, request: HttpRequest, obj: Any = None, **options: Any) -> Any:
        return super().get_formset(request, obj, **add_help_texts(options, self.form, self.help_texts))
