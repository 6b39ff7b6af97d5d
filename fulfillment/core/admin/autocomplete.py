"""Choosing a record by typing part of its name, also where no script runs and whatever is sent back."""

from collections.abc import Sequence
from typing import Any

from django.contrib.admin.widgets import AutocompleteSelect
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString

# So many are offered at once; without a script and with more records, the field takes an ID.
FEW = 50
ROW_TO_COPY = "__prefix__"


class ChoosingWidget(AutocompleteSelect):
    offered: Sequence[Any] = ()

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        # In no order: of a large table the database would sort all rows to find out that they are too many.
        records = self.choices.queryset.using(self.db).order_by()
        found = [] if ROW_TO_COPY in name else list(records[: FEW + 1])
        self.offered = sorted(found, key=self._called) if len(found) <= FEW else []
        select: SafeString = super().render(name, value, attrs, renderer)
        return select if len(found) <= FEW else select + self._typed(name, value)

    def _typed(self, name: str, value: Any) -> SafeString:
        opts = self.field.remote_field.model._meta  # noqa: SLF001 - Django's public Meta API
        address = reverse(f"{self.admin_site.name}:{opts.app_label}_{opts.model_name}_changelist")
        context = {"name": name, "value": value or "", "kind": opts.verbose_name, "list": address}
        return render_to_string("admin/choosing.html", context)

    def optgroups(self, name: str, value: Sequence[Any], attrs: Any = None) -> list[Any]:
        """What was sent may be no key of any record: the field says so, and here nothing is looked up by it."""
        wanted = {str(one) for one in value if self._is_key(one)}
        known = {str(record.pk): record for record in self.offered}
        if wanted - set(known):
            known |= {
                str(record.pk): record
                for record in self.choices.queryset.using(self.db).filter(pk__in=wanted)
            }
        is_only = self.is_required and len(known) == 1
        # Never the first of several because nothing was chosen.
        needs_blank = not self.is_required or not (wanted or is_only)
        options = [self.create_option(name, "", "", not wanted, 0)] if needs_blank else []
        for key, record in known.items():
            options.append(self.create_option(name, key, self._called(record), key in wanted, len(options)))
        return [(None, options, 0)]

    def _called(self, record: Any) -> str:
        chosen_from: Any = self.admin_site.get_model_admin(self.field.remote_field.model)
        called: str = chosen_from.disambiguated_label(record)
        return called

    def _is_key(self, value: Any) -> bool:
        try:
            self.field.remote_field.model._meta.pk.clean(str(value), None)  # noqa: SLF001 - as above
        except ValidationError:
            return False
        return bool(str(value))


class AutocompleteMixin:
    """Mixed into admins and inlines: their `autocomplete_fields` get this widget."""

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        admin: Any = self
        if db_field.name in admin.get_autocomplete_fields(request):
            options.setdefault(
                "widget", ChoosingWidget(db_field, admin.admin_site, using=options.get("using"))
            )
        return super().formfield_for_foreignkey(db_field, request, **options)  # type: ignore[misc]  # of the admin
