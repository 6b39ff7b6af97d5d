"""Autocomplete for related records, which also works without JavaScript."""

from collections.abc import Sequence
from typing import Any

from django.contrib.admin.widgets import AutocompleteSelect
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString

# The number of suggestions; with more records and without a script, the field takes an ID.
MAX_SUGGESTIONS = 50
EMPTY_ROW = "__prefix__"


class AutocompleteWidget(AutocompleteSelect):
    offered: Sequence[Any] = ()

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        # Unordered: sorting a large table only to find that it has too many rows would be slow.
        records = self.choices.queryset.using(self.db).order_by()
        found = [] if EMPTY_ROW in name else list(records[: MAX_SUGGESTIONS + 1])
        self.offered = sorted(found, key=self._label) if len(found) <= MAX_SUGGESTIONS else []
        select: SafeString = super().render(name, value, attrs, renderer)
        return select if len(found) <= MAX_SUGGESTIONS else select + self._id_input(name, value)

    def _id_input(self, name: str, value: Any) -> SafeString:
        opts = self.field.remote_field.model._meta
        address = reverse(f"{self.admin_site.name}:{opts.app_label}_{opts.model_name}_changelist")
        context = {"name": name, "value": value or "", "kind": opts.verbose_name, "list": address}
        return render_to_string("admin/choosing.html", context)

    def optgroups(self, name: str, value: Sequence[Any], attrs: Any = None) -> list[Any]:
        """The chosen record as option. An invalid key is not looked up here: the field reports it."""
        selected = {str(one) for one in value if self._is_key(one)}
        known = {str(record.pk): record for record in self.offered}
        if selected - set(known):
            known |= {
                str(record.pk): record
                for record in self.choices.queryset.using(self.db).filter(pk__in=selected)
            }
        is_only = self.is_required and len(known) == 1
        # Never preselects the first record.
        needs_blank = not self.is_required or not (selected or is_only)
        options = [self.create_option(name, "", "", not selected, 0)] if needs_blank else []
        for key, record in known.items():
            options.append(self.create_option(name, key, self._label(record), key in selected, len(options)))
        return [(None, options, 0)]

    def _label(self, record: Any) -> str:
        chosen_from: Any = self.admin_site.get_model_admin(self.field.remote_field.model)
        called: str = chosen_from.disambiguated_label(record)
        return called

    def _is_key(self, value: Any) -> bool:
        try:
            self.field.remote_field.model._meta.pk.clean(str(value), None)
        except ValidationError:
            return False
        return bool(str(value))


class AutocompleteMixin:
    """For admins and inlines: uses this widget for `autocomplete_fields`."""

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        admin: Any = self
        if db_field.name in admin.get_autocomplete_fields(request):
            options.setdefault(
                "widget", AutocompleteWidget(db_field, admin.admin_site, using=options.get("using"))
            )
        return super().formfield_for_foreignkey(db_field, request, **options)  # type: ignore[misc]  # of the admin
