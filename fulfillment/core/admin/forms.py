"""Forms of records: a save over another user's change is refused, and an unchanged record is not written."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.contrib.admin.options import IS_POPUP_VAR
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from unfold.admin import ModelAdmin

from fulfillment.core.admin.inlines import add_help_texts
from fulfillment.core.db.changes import OptimisticLockMixin, differs_from_stored


class FormAdmin(ModelAdmin):
    """Refuses forms that were opened before another change, writes only changes, and stays on the record's page."""

    compressed_fields = True
    # Help texts by field, instead of those of the model.
    help_texts: Mapping[str, str] = {}
    # Whether the form itself refuses changes based on an outdated page.
    handles_conflicts = False

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        form = super().get_form(request, obj, change, **add_help_texts(options, self.form, self.help_texts))
        if not change or self.handles_conflicts:
            return form
        return type(form.__name__, (OptimisticLockMixin, form), {})

    def construct_change_message(self, request: Any, form: Any, formsets: Any, add: bool = False) -> Any:
        changes = super().construct_change_message(request, form, formsets, add)
        request.is_unchanged = not add and not changes
        return changes

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """An unchanged record is not saved: that would move its `updated`, and write an entry in the audit trail."""
        if not change or differs_from_stored(obj):
            super().save_model(request, obj, form, change)

    def save_related(self, request: HttpRequest, form: Any, formsets: Sequence[Any], change: bool) -> None:
        """Changed rows move `updated`: by the newest entry of the record itself, forms opened before are refused."""
        if change and not form.has_changed() and any(formset.has_changed() for formset in formsets):
            form.instance.save(update_fields=["updated"])
        super().save_related(request, form, formsets, change)

    def response_change(self, request: HttpRequest, record: Any) -> HttpResponseBase:
        """Reports no change if the form changed nothing."""
        if getattr(request, "is_unchanged", False) and IS_POPUP_VAR not in request.POST:
            messages.info(request, _("No changes to save."))
            return HttpResponseRedirect(request.get_full_path())
        response: HttpResponseBase = super().response_change(request, record)
        return response

    def response_post_save_change(self, request: HttpRequest, obj: Any) -> HttpResponseRedirect:
        """Stays on the page of the record after saving."""
        return HttpResponseRedirect(request.get_full_path())

    def response_post_save_add(self, request: HttpRequest, obj: Any) -> HttpResponseRedirect:
        if not self.has_view_or_change_permission(request, obj):
            return super().response_post_save_add(request, obj)
        return HttpResponseRedirect(self.address_of(obj))
